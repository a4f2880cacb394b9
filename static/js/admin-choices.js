// Improves choices with autocompletion. Forms work without it.
"use strict";

(() => {
  // Django's own copy of jQuery, which its choices are made with.
  const jquery = (subject) => window.django.jQuery(subject);

  // The text box is labeled with its field: "Topic, row 2".
  function name(select) {
    const box = select.parentElement.querySelector(".select2-selection");
    const label = select.labels && select.labels[0];
    const words = select.getAttribute("aria-label") || (label && label.textContent.trim().replace(/:$/, ""));
    if (!box || !words) {
      return;
    }
    // With multiple choices the text box is inside.
    box.querySelector(".select2-search__field")?.setAttribute("aria-label", words);
    const shown = box.querySelector(".select2-selection__rendered");
    // The choice is text in the box, not an input.
    shown.removeAttribute("role");
    shown.removeAttribute("aria-readonly");
    if (shown.tagName === "UL") {
      // It contains a button next to its items, which is invalid in a list.
      shown.setAttribute("role", "presentation");
    }
    box.id = `${select.id}-box`;
    box.setAttribute("aria-label", words);
    box.setAttribute("aria-labelledby", shown.id ? `${box.id} ${shown.id}` : box.id);
  }

  // The last choice opens the pop-up of the plus sign, with what was typed as the name.
  function offerNew(select) {
    const choices = jquery(select).data("select2");
    const add = document.getElementById(`add_${select.id}`);
    if (!choices || !add || !select.dataset.create) {
      return;
    }
    choices.dataAdapter.processResults = (found, { term = "" }) => {
      const typed = term.trim();
      if (typed && !found.pagination.more) {
        const text = select.dataset.create.replace("{name}", () => typed);
        found.results.push({ id: "create", text, typed });
      }
      return found;
    };
    jquery(select).on("select2:selecting", (event) => {
      const { typed } = event.params.args.data;
      if (typed) {
        event.preventDefault();
        choices.close();
        const address = add.href;
        add.href = `${address}&name=${encodeURIComponent(typed)}`;
        add.click();
        add.href = address;
      }
    });
  }

  function prepareAll(within) {
    for (const select of within.querySelectorAll("select.admin-autocomplete")) {
      name(select);
      offerNew(select);
    }
  }

  // While the edition can be chosen, the other choices offer rows of that edition.
  function follow(edition) {
    for (const select of document.querySelectorAll("select[data-of-edition]")) {
      const choices = jquery(select).data("select2");
      if (choices) {
        const path = select.getAttribute("data-ajax--url").split("?")[0];
        choices.dataAdapter.ajaxOptions.url = edition ? `${path}?edition=${edition}` : path;
      }
      // Rows added from here belong to that edition too.
      const add = document.getElementById(`add_${select.id}`);
      if (add) {
        const address = new URL(add.href);
        address.searchParams.set("edition", edition);
        add.href = `${address.pathname}${address.search}`;
      }
    }
  }

  // A person added in a pop-up brings an affiliation, which is printed unless another one is entered.
  function takeAffiliation(popup) {
    const response = popup.document.getElementById("django-admin-popup-response-constants");
    const { affiliation } = JSON.parse(response.dataset.popupResponse);
    // Django names a pop-up after its field, with its depth.
    const select = document.getElementById(popup.name.replace(/__\d+$/, ""));
    for (const name of affiliation && select ? ["affiliation", "affiliations"] : []) {
      const field = select.form.elements[select.name.replace(/\w+$/, name)];
      if (field && !field.value.trim()) {
        field.value = affiliation;
      }
    }
  }

  function begin() {
    const dismiss = window.dismissAddRelatedObjectPopup;
    window.dismissAddRelatedObjectPopup = (popup, ...added) => {
      takeAffiliation(popup);
      dismiss(popup, ...added);
    };
    prepareAll(document);
    const edition = document.querySelector("select#id_edition");
    if (edition) {
      jquery(edition).on("change", () => follow(edition.value));
    }
  }

  // After other handlers of the same event, above all the script that makes the choices.
  window.addEventListener("load", () => jquery(begin));
  document.addEventListener("formset:added", (event) => {
    setTimeout(() => {
      prepareAll(event.target);
      const edition = document.querySelector("select#id_edition");
      if (edition) {
        follow(edition.value);
      }
    });
  });
})();
