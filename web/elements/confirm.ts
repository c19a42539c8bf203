/**
 * Shows what `details[data-dialog]` folds away as a dialog. Without this script it folds out in its
 * place. A link may ask for one of them at once.
 */
export function startConfirm(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const summary = event.target.closest<HTMLElement>("details[data-dialog] > summary");
    const details = summary?.parentElement;
    if (summary === null || !(details instanceof HTMLDetailsElement)) return;
    event.preventDefault();
    show(details, summary);
  });
  const asked = document.querySelector<HTMLDetailsElement>("details[data-dialog=open]");
  const summary = asked?.querySelector<HTMLElement>(":scope > summary") ?? null;
  if (asked === null || summary === null) return;
  asked.open = false;
  show(asked, summary);
}

function show(details: HTMLDetailsElement, summary: HTMLElement): void {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", summary.textContent?.trim() ?? "");
  const contents = [...details.children].filter((child) => child !== summary);
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.addEventListener("click", () => dialog.close());
  dialog.append(...contents);
  (dialog.querySelector(".row") ?? dialog).append(cancel);
  dialog.addEventListener("close", () => {
    cancel.remove();
    details.append(...contents);
    dialog.remove();
    summary.focus();
  });
  details.after(dialog);
  dialog.showModal();
  // By default, a link in the text above has it.
  dialog.querySelector<HTMLElement>("input:not([type=hidden]), select, textarea")?.focus();
}
