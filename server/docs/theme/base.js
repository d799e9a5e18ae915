"use strict";
// MkDocs's search reads the address of the site from this global name.
var base_url = document.body.dataset.base;
