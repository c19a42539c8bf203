import { type ApiClient, Unreachable } from "./client.ts";
import { CommandFailed, printError } from "./output.ts";

/** Pause before another attempt, in milliseconds. */
const RETRY_DELAY = 2000;

/** Longest event, in characters. */
const MAX_EVENT = 4_194_304;

/**
 * Reads an event stream of the API forever. If the server goes away, it waits and reconnects.
 *
 * @param path returns the stream's path before each connection, so that it can name the last event
 * @param take receives the data of each event
 * @throws CommandFailed if the server refuses
 */
export async function followStream(
  client: ApiClient,
  path: () => string,
  take: (data: unknown) => void,
): Promise<never> {
  for (;;) {
    try {
      for await (const data of readStream(client, path())) take(data);
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof TypeError)) throw error;
      printError(error instanceof Unreachable ? error.message : "The stream broke off");
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
}

async function* readStream(client: ApiClient, path: string): AsyncGenerator<unknown> {
  const response = await client.openStream(path);
  let rest = "";
  for await (const text of response.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_EVENT) {
      throw new CommandFailed("The server sent an event that is too long");
    }
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  }
}
