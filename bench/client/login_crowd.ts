/**
 * The first message to a crowd: its people's credentials. It answers `null` when they are ready.
 */
export interface CrowdRequest {
  /** The URL of the login. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The local address of each. */
  readonly addresses: readonly string[];
}

/** The next message to the crowd; it answers with one {@link LoginAnswer} for each address. */
export const LOG_IN = "log in";

/** Time limit of a login, after which all of them fail, in seconds. */
export const LOGIN_LIMIT = 60;

/** The answer to a login. */
export interface LoginAnswer {
  readonly status: number;
  /** From the start of the request, before the connection, to the end of the answer. */
  readonly milliseconds: number;
}

/**
 * People who log in over HTTP at the same moment, each from a separate loopback address.
 *
 * They run in a separate thread, so that their cost does not affect the latencies that this one
 * measures. Their sockets are bound to the addresses, without a header that states one.
 */
export class LoginCrowd implements Disposable {
  readonly #worker: Worker;

  private constructor() {
    this.#worker = new Worker(new URL("./login_crowd_worker.ts", import.meta.url), {
      type: "module",
      name: "login crowd",
    });
  }

  /** Prepares the people without connecting them. */
  static async gather(request: CrowdRequest): Promise<LoginCrowd> {
    const crowd = new LoginCrowd();
    try {
      await crowd.#ask(request);
      return crowd;
    } catch (error) {
      crowd[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Logs everybody in at once; returns the answers in the order of the addresses.
   *
   * @throws Error if somebody got no answer
   */
  async logIn(): Promise<readonly LoginAnswer[]> {
    return await this.#ask(LOG_IN) as readonly LoginAnswer[];
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }

  #ask(question: CrowdRequest | typeof LOG_IN): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }) => resolve(data);
      this.#worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(`The logins failed: ${event.message}`));
      };
      this.#worker.postMessage(question);
    });
  }
}

/**
 * Distinct addresses of 127.0.0.0/8, from 127.0.1.0 on.
 *
 * @param first how many addresses to skip
 */
export function loopbackAddresses(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const number = 256 + first + index;
    return `127.${number >> 16 & 255}.${number >> 8 & 255}.${number & 255}`;
  });
}
