"use strict";
// Sends the example of an operation, as the reader has changed it, with the reader's own token.
// The token stays in its field: it is neither stored nor sent anywhere else.
const root = new URL(document.body.dataset.base.replace(/\/?$/, "/") + "../", location.href);
const token = document.getElementById("token");

async function send(form) {
  const shown = form.querySelector("output");
  const headers = { Authorization: `Bearer ${token.value.trim()}` };
  const body = form.elements.namedItem("body");
  if (body) headers["Content-Type"] = "application/json";
  shown.textContent = "Waiting for the answer ...";
  try {
    const address = new URL(form.elements.namedItem("path").value.replace(/^\//, ""), root);
    if (address.origin !== location.origin) throw new Error("the path leads to another server");
    const answer = await fetch(address, {
      method: form.dataset.verb,
      headers,
      body: body ? body.value : undefined,
      credentials: "omit",
    });
    const text = await answer.text();
    let pretty = text;
    try {
      pretty = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Not JSON: shown as it came.
    }
    shown.textContent = `${answer.status} ${answer.statusText}\n${pretty.slice(0, 20000)}`;
  } catch (error) {
    shown.textContent = `The request was not sent: ${error.message}`;
  }
}

for (const part of document.querySelectorAll("[data-try]")) part.hidden = false;
for (const form of document.querySelectorAll("form[data-verb]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
