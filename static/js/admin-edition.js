// On a form where the edition is still being chosen, the other choices offer that edition's rows.
// Without this script they offer those of the edition that the form was opened for; saving checks it either way.
"use strict";

window.addEventListener("load", () => {
  const edition = document.querySelector("select#id_edition");
  const jquery = window.django && window.django.jQuery;
  if (!edition || !jquery) {
    return;
  }
  jquery(edition).on("change", () => {
    for (const select of document.querySelectorAll("select[data-of-edition]")) {
      const choices = jquery(select).data("select2");
      if (choices) {
        const path = select.getAttribute("data-ajax--url").split("?")[0];
        choices.dataAdapter.ajaxOptions.url = edition.value ? `${path}?edition=${edition.value}` : path;
      }
    }
  });
});
