import { SendHorizontal, X } from "lucide-static";
import { SLASH_COMMANDS } from "../../../services/chat/chats/mod.ts";
import type { Visit } from "../../visit.ts";
import { Form } from "../form.tsx";
import { Icon } from "../icon.tsx";
import { plainText } from "./irc_text.tsx";
import type { ShownMessage } from "./message.tsx";

/** Longest text of one post, in characters; the service counts bytes. */
const MAX_TEXT = 65_536;

/** Where one writes. Without a script it is a plain form. */
export function Composer({ visit, to, answered }: {
  readonly visit: Visit;
  /** To whom one writes, such as `#general`. */
  readonly to: string;
  /** The message that this answers. */
  readonly answered?: ShownMessage | undefined;
}) {
  const { pathname } = visit.url;
  return (
    <Form visit={visit} action="say" to={`${pathname}#say`} class="composer">
      <p class="answering" hidden={answered === undefined}>
        <span>
          Reply to{" "}
          <bdi>
            {answered !== undefined && `${answered.nick}: ${plainText(answered.text).slice(0, 80)}`}
          </bdi>
        </span>
        <a href={pathname} aria-label="Do not reply">
          <Icon svg={X} />
        </a>
      </p>
      <input type="hidden" name="reply" value={answered?.id ?? visit.entered("reply")} />
      <ul class="commands" aria-label="Commands" hidden>
        {SLASH_COMMANDS.filter(({ inChannels = false }) => to.startsWith("#") || !inChannels)
          .map(({ name, usage, purpose }) => (
            <li data-command={name}>
              <code>{usage}</code> {purpose}
            </li>
          ))}
      </ul>
      <div class="composer-line">
        <textarea
          id="say"
          name="text"
          rows={1}
          maxlength={MAX_TEXT}
          required
          aria-label={`Message to ${to}`}
          aria-describedby="say-hint"
          placeholder={`Message to ${to}`}
        >
          {visit.entered("text") || visit.query("draft")}
        </textarea>
        <button class="primary" type="submit" aria-label="Send">
          <Icon svg={SendHorizontal} />
        </button>
      </div>
      <p class="hint" id="say-hint">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> begins a line, <kbd>Tab</kbd>{" "}
        completes a name, <kbd>↑</kbd> takes up what you sent, <kbd>/</kbd> lists commands
      </p>
      <p class="composer-trouble" role="alert" hidden></p>
    </Form>
  );
}
