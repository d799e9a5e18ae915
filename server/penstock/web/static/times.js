// Shows every time of a page in the reader's zone; the time in UTC, which the page was sent with,
// is its title. Without this script, and for readers in UTC, times stay as they are.
"use strict";

(() => {
  const fields = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" };
  // Sweden writes 2026-11-28 07:01, as these pages do.
  const toMinutes = new Intl.DateTimeFormat("sv-SE", fields);
  const toSeconds = new Intl.DateTimeFormat("sv-SE", { ...fields, second: "2-digit" });

  // An offset is the same in any language; names of zones, such as CET, are not.
  const zone = (minutes) => {
    const rest = Math.abs(minutes) % 60;
    const hours = (Math.abs(minutes) - rest) / 60;
    return `UTC${minutes < 0 ? "\u2212" : "+"}${hours}${rest ? `:${String(rest).padStart(2, "0")}` : ""}`;
  };

  const show = (time) => {
    const at = new Date(time.dateTime);
    const minutes = -at.getTimezoneOffset();
    // What does not end with its zone is a day, or was shown before.
    if (!minutes || !time.textContent.endsWith(" UTC")) return;
    const form = /:\d\d:\d\d UTC$/.test(time.textContent) ? toSeconds : toMinutes;
    time.title = time.textContent;
    time.textContent = `${form.format(at)} ${zone(minutes)}`;
  };

  const showAll = (root) => root.querySelectorAll("time[datetime]").forEach(show);

  showAll(document);
  document.addEventListener("htmx:load", (event) => showAll(event.detail.elt));
})();
