/** How long a button says that it has copied, in milliseconds. */
const SAID = 2000;

/** Lets buttons with `data-copy` copy its value. They show only with this script. */
export function startCopy(): void {
  document.documentElement.classList.add("scripted");
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest<HTMLElement>("[data-copy]");
    if (button !== null) void copyFrom(button);
  });
}

async function copyFrom(button: HTMLElement): Promise<void> {
  const words = [...button.childNodes];
  if (button.dataset["said"] !== undefined) return;
  const isCopied = await copy(button.dataset["copy"] ?? "");
  button.dataset["said"] = "";
  button.textContent = isCopied ? "Copied" : "Copy it by hand";
  setTimeout(() => {
    button.replaceChildren(...words);
    delete button.dataset["said"];
  }, SAID);
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The clipboard belongs to secure origins alone; a page of another one copies what is selected. */
function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden-text";
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
