// Clashes of the planned moves: requested after each move, shown on the board and in the list.
"use strict";

(() => {
  const timetable = window.plenaryTimetable;
  if (!timetable) {
    return;
  }
  const { form, rows, words } = timetable;
  const list = document.getElementById("tt-clashes");
  const WAIT = 250;
  let timer;
  let asked = 0;

  async function ask() {
    asked += 1;
    const turn = asked;
    try {
      const reply = await fetch(words.check, { method: "POST", body: new FormData(form) });
      if (!reply.ok) {
        throw new Error(reply.statusText);
      }
      const found = await reply.json();
      // A newer request is running.
      if (turn === asked) {
        show(found);
      }
    } catch {
      if (turn === asked) {
        list.textContent = words.failed;
      }
    }
    if (turn === asked) {
      list.removeAttribute("aria-busy");
    }
  }

  function badge([tag, name, text]) {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    return element;
  }

  function show(found) {
    const stale = new Set(found.stale.map(String));
    const page = new DOMParser().parseFromString(found.html, "text/html");
    list.replaceChildren(...page.body.childNodes);
    for (const row of rows.values()) {
      const count = found.sessions[row.key] ?? 0;
      row.item.dataset.clashes = count;
      const badges = [
        ["span", "tt-moved", row.item.classList.contains("is-moved") ? words.moved : ""],
        ["span", "tt-badge", stale.has(row.key) ? words.stale : ""],
        ["b", "tt-badge", [count ? timetable.fill(words.clashes, { count }) : "", ...(found.errors[row.key] ?? []).flat()].join(" ")],
      ];
      row.item.querySelector(".tt-badges").replaceChildren(...badges.filter(([, , text]) => text.trim()).map(badge));
    }
    timetable.mark();
  }

  form.addEventListener("timetable:moved", () => {
    clearTimeout(timer);
    list.setAttribute("aria-busy", "true");
    timer = setTimeout(ask, WAIT);
  });
  // The site checks again on saving.
  form.addEventListener("submit", () => clearTimeout(timer));
})();
