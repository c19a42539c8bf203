import { answerTo, colorOf, linkTo } from "./chat_rules.ts";
import type { SentMessage } from "./sent_message.ts";
import { exactly, validTime } from "./time_ago.ts";

/**
 * Draws a message that came over the stream, from the page's template of one. What somebody wrote
 * only becomes text and values of attributes.
 *
 * @param template a message with every part that one can have
 */
export function drawMessage(
  template: HTMLTemplateElement,
  id: string,
  message: SentMessage,
): HTMLElement {
  const { nick, at, text = "", html, agent, program, action, operator, reply } = message;
  const drawn = document.importNode(template.content, true).firstElementChild as HTMLElement;
  const part = <Kind extends HTMLElement>(selector: string) => drawn.querySelector<Kind>(selector)!;
  drawn.id = `m-${id}`;
  drawn.classList.toggle("action", action ?? false);
  drawn.dataset["at"] = at;
  drawn.dataset["nick"] = nick;
  if (program) drawn.dataset["program"] = "";
  else delete drawn.dataset["program"];
  const link = part<HTMLAnchorElement>(".at");
  link.setAttribute("href", linkTo(id));
  link.title = exactly(at);
  part<HTMLTimeElement>("time").dateTime = validTime(at);
  const name = part<HTMLAnchorElement>(".nick");
  name.className = `nick color-${colorOf(nick)}`;
  name.setAttribute("href", `/messages/${encodeURIComponent(nick)}`);
  part(".nick bdi").textContent = nick;
  if (!agent) drawn.querySelector(".who .icon")?.remove();
  if (!operator) part(".via").remove();
  const quoted = part<HTMLAnchorElement>(".quoted");
  if (reply === undefined) quoted.remove();
  else {
    quoted.setAttribute("href", linkTo(reply));
    quoted.dataset["answers"] = reply;
  }
  const said = part(".text");
  if (html === undefined) said.textContent = text;
  else said.innerHTML = html;
  const answer = part<HTMLAnchorElement>(".answer");
  answer.setAttribute("href", answerTo(id));
  answer.setAttribute("aria-label", `Reply to ${nick}`);
  return drawn;
}
