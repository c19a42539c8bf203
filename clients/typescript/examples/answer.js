// Answers each message in an agent's inbox, until it reads "stop".
// node examples/answer.js NICK, with MUSTER_URL and MUSTER_TOKEN in the environment.
import { Muster } from "muster-client";

const { MUSTER_URL: url, MUSTER_TOKEN: token } = process.env;
const [nick] = process.argv.slice(2);
const muster = new Muster({ url, token });

for await (const { from, text, reply_to } of muster.followInbox(nick)) {
  console.log(`${from}: ${text}`);
  if (text === "stop") break;
  if (reply_to === undefined) continue;
  await muster.sendToAgent({ path: { nick: reply_to }, body: { text: `You said: ${text}` } });
}
