/** A line of the answer to an import. */
interface Line {
  readonly done?: number;
  readonly total?: number | null;
  readonly checkins?: number;
  readonly error?: string;
}

/** Lets forms with `data-upload` send their file there, and show the progress. */
export function startUpload(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-upload]")) {
    const button = form.querySelector("button");
    if (button !== null) button.disabled = false;
    say(form, "");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const file = form.querySelector<HTMLInputElement>("input[type=file]")?.files?.[0];
      if (file !== undefined) send(form, file);
    });
  }
}

/** Sends a file. Its answer is lines of JSON: the progress, and then the result or an error. */
function send(form: HTMLFormElement, file: File): void {
  const request = new XMLHttpRequest();
  const progress = form.querySelector("progress");
  const button = form.querySelector("button");
  const show = (part: number | null, words: string) => {
    if (progress !== null) {
      progress.hidden = false;
      if (part === null) progress.removeAttribute("value");
      else progress.value = part;
    }
    say(form, words);
  };
  const fail = (words: string) => {
    if (progress !== null) progress.hidden = true;
    if (button !== null) button.disabled = false;
    say(form, words);
  };
  if (button !== null) button.disabled = true;
  request.upload.onprogress = ({ loaded, total }) => {
    const part = total === 0 ? 0 : loaded / total;
    show(part, `Sent ${Math.floor(part * 100)}% of ${file.name}`);
  };
  request.onprogress = () => {
    const { done, total } = lastLine(request);
    if (done !== undefined) {
      const part = typeof total === "number" ? done / Math.max(1, total) : null;
      show(part, `Read ${done} artifacts`);
    }
  };
  request.onerror = () => fail("The connection broke: try again.");
  request.onload = () => {
    const { error, checkins } = lastLine(request);
    if (request.status !== 200 || error !== undefined) {
      return fail(`${error ?? `The server answered ${request.status}`}.`);
    }
    show(1, `Imported ${checkins === 1 ? "1 check-in" : `${checkins ?? 0} check-ins`}.`);
    location.href = form.dataset["then"] ?? "/";
  };
  request.open("PUT", form.dataset["upload"] ?? "");
  request.setRequestHeader("Accept", "application/x-ndjson");
  request.setRequestHeader("Content-Type", "application/octet-stream");
  const token = form.querySelector<HTMLInputElement>("input[name=csrf]")?.value ?? "";
  request.setRequestHeader("X-CSRF-Token", token);
  request.send(file);
}

/** The last whole line of what has arrived; an empty one if there is none. */
function lastLine({ responseText }: XMLHttpRequest): Line {
  const line = responseText.trimEnd().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

function say(form: HTMLFormElement, words: string): void {
  const state = form.querySelector("[data-upload-state]");
  if (state !== null) state.textContent = words;
}
