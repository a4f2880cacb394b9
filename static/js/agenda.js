// My agenda from the stars in this browser: the site renders it, this script inserts it.
"use strict";

(() => {
  const agenda = window.plenaryAgenda;
  const form = document.getElementById("stars");
  const main = document.querySelector("main");
  const head = document.querySelector("[data-agenda=own]");
  if (!agenda) {
    return;
  }

  async function show() {
    const body = new URLSearchParams({ s: agenda.starred(agenda.load()).map(agenda.write).join(" ") });
    try {
      const reply = await fetch(form.dataset.agenda, { method: "POST", body });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const note = main.querySelector("[role=status]");
      main.replaceChildren(...page.querySelector("main").childNodes);
      if (note) {
        main.querySelector("h1").after(note);
      }
      agenda.paint();
      document.dispatchEvent(new CustomEvent("plenary:shown"));
    } catch {
      // No network: what the site showed stays.
    }
  }

  async function begin() {
    const isKept = head.dataset.kept !== undefined;
    agenda.keep(isKept);
    const isChanged = await agenda.sync();
    // What the site already shows stays, with whatever the reader has opened in it.
    if (agenda.load().stars.size > 0 && (isChanged || !isKept)) {
      await show();
    }
  }

  document.addEventListener("submit", (event) => {
    if (event.target.dataset.forget !== undefined) {
      agenda.forget();
    }
  });
  // Confirmed: the star stores the present time and room.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-noted]");
    if (button) {
      const link = button.closest("article").querySelector(".title a");
      button.closest(".moved").remove();
      link.focus();
    }
  });
  if (head) {
    begin();
    document.addEventListener("plenary:stars", show);
  }
})();
