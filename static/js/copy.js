// Buttons that copy a text of the page. Without this module, or where the browser forbids it, they stay
// hidden.

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const status = document.querySelector("[data-copied]");
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = status.dataset.copied;
  } catch {
    // The reader can still copy by hand: the text is selected for that.
    source.closest("details")?.setAttribute("open", "");
    getSelection().selectAllChildren(source);
    button.textContent = status.dataset.selected;
  }
  status.textContent = button.textContent;
  setTimeout(() => (button.textContent = label), 4000);
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}
