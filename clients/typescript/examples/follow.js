// Prints what is said in a channel, until somebody says "stop".
// node examples/follow.js CHANNEL [SINCE], with MUSTER_URL and MUSTER_TOKEN in the environment.
import { Muster } from "muster-client";

const { MUSTER_URL: url, MUSTER_TOKEN: token } = process.env;
const [channel, since] = process.argv.slice(2);
const muster = new Muster({ url, token });

for await (const { event, data } of muster.followChannel(channel, { since })) {
  if (event !== "message") continue;
  console.log(`${data.nick}: ${data.text}`);
  if (data.text === "stop") break;
}
