// Preview and warnings of a text while somebody types. Without the script the warnings are shown when the
// form opens, and a button previews all texts in a new tab.
"use strict";

(() => {
  const PAUSE = 500;

  function prepare(help) {
    const cell = help.parentElement;
    const field = cell.querySelector("textarea, input[type=text]");
    const advice = help.querySelector(".text-advice");
    if (!field || help.querySelector("details") || field.name.includes("__prefix__")) {
      return;
    }
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const shown = document.createElement("div");
    let timer = 0;
    let asked = null;
    let known = null;

    // Screen readers announce the warnings only when they change.
    function tell(sentences) {
      if (sentences.join("\n") === [...advice.children].map((line) => line.textContent).join("\n")) {
        return;
      }
      advice.replaceChildren(
        ...sentences.map((sentence) => {
          const line = document.createElement("li");
          line.textContent = sentence;
          return line;
        }),
      );
    }

    async function ask() {
      if (known === field.value) {
        return;
      }
      if (asked) {
        asked.abort();
      }
      const mine = new AbortController();
      asked = mine;
      const sent = field.value;
      const body = new FormData();
      body.append("text", sent);
      body.append("kind", help.dataset.textHelp);
      const token = field.form.querySelector("[name=csrfmiddlewaretoken]").value;
      try {
        const answer = await fetch(help.dataset.address, {
          method: "POST",
          headers: { "X-CSRFToken": token },
          body,
          signal: mine.signal,
        });
        if (!answer.ok && answer.status !== 413) {
          throw new Error(String(answer.status));
        }
        const found = await answer.json();
        known = sent;
        // Rendered and sanitized by the site.
        shown.innerHTML = found.html;
        if (!found.html) {
          shown.textContent = help.dataset.empty;
        }
        tell(found.advice);
      } catch (error) {
        if (error.name !== "AbortError") {
          shown.textContent = help.dataset.failed;
        }
      }
    }

    summary.textContent = help.dataset.preview;
    const label = field.getAttribute("aria-label") || (field.labels[0] ? field.labels[0].textContent : "");
    summary.setAttribute("aria-label", `${help.dataset.preview}: ${label.trim().replace(/:$/, "")}`);
    shown.className = "text-shown";
    details.append(summary, shown);
    help.prepend(details);
    details.addEventListener("toggle", () => details.open && ask());
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE);
    });
  }

  function prepareAll(within) {
    for (const help of within.querySelectorAll("[data-text-help]")) {
      prepare(help);
    }
  }

  document.addEventListener("DOMContentLoaded", () => prepareAll(document));
  document.addEventListener("formset:added", (event) => prepareAll(event.target));
})();
