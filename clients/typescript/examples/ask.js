// Asks people a question, and waits for their answer.
// node examples/ask.js QUESTION, with MUSTER_URL and MUSTER_TOKEN in the environment.
import { Muster } from "muster-client";

const { MUSTER_URL: url, MUSTER_TOKEN: token } = process.env;
const [text] = process.argv.slice(2);
const muster = new Muster({ url, token });

const { id } = await muster.askQuestion({ body: { text, choices: ["yes", "no"] } });
const { state, answer } = await muster.answerTo(id);
console.log(state === "answered" ? answer : `The question is ${state}`);
