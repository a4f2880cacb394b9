// Links to other pages of an inline ask first if the form has changes that are not saved.
"use strict";

(() => {
  const changedForms = new WeakSet();
  const noteChange = (event) => {
    const form = event.target.closest("form");
    if (form) {
      changedForms.add(form);
    }
  };

  function confirmLeaving(event) {
    const link = event.target.closest("nav.part-pages a");
    if (link && changedForms.has(link.closest("form"))) {
      if (!window.confirm(link.closest(".part-pages").dataset.warning)) {
        event.preventDefault();
      }
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!document.querySelector(".part-pages")) {
      return;
    }
    for (const type of ["input", "change", "formset:added", "formset:removed", "places:moved"]) {
      document.addEventListener(type, noteChange);
    }
    document.addEventListener("click", confirmLeaving);
  });
})();
