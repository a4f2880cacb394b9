// Buttons that copy a text of the page, or of a field. Without this module, or where the browser forbids it, they stay
// hidden.

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const status = document.querySelector("[data-copied]");
  const label = [...button.childNodes];
  try {
    await navigator.clipboard.writeText((source.value ?? source.textContent).trim());
    button.textContent = status.dataset.copied;
  } catch {
    // The reader can still copy by hand: the text is selected for that.
    source.closest("details")?.setAttribute("open", "");
    if (source.select) {
      source.select();
    } else {
      getSelection().selectAllChildren(source);
    }
    button.textContent = status.dataset.selected;
  }
  status.textContent = button.textContent;
  setTimeout(() => button.replaceChildren(...label), 4000);
}

function offer() {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
  }
}

if (navigator.clipboard) {
  offer();
  document.addEventListener("plenary:shown", offer);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) {
      copy(button);
    }
  });
}
