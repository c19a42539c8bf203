/**
 * Runs the Inspector's command line many times in one process, because each process of its own would
 * take a second: a list of arguments per line of standard input, and per line of standard output what
 * the command line wrote and the error with which it ended.
 *
 * The first argument is the module of the command line.
 */
import { createInterface } from "node:readline";
import process from "node:process";

const { runCli } = await import(process.argv[2]);
const write = process.stdout.write.bind(process.stdout);

for await (const line of createInterface({ input: process.stdin })) {
  let output = "";
  let error = null;
  process.stdout.write = (text, ...rest) => {
    output += text;
    rest.findLast((value) => typeof value === "function")?.();
    return true;
  };
  try {
    await runCli(["node", "inspector-cli", ...JSON.parse(line)]);
  } catch (thrown) {
    error = String(thrown?.message ?? thrown);
  } finally {
    process.stdout.write = write;
  }
  write(`${JSON.stringify({ output, error })}\n`);
}
process.exit(0);
