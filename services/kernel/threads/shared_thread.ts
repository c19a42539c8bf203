/**
 * A part of the program with messages as its only interface, so that it can run on any thread. It
 * gets a function that sends its answers, and returns one that takes messages. The first message
 * opens it; `null` closes it, and it answers `null`.
 */
export type Part = (answer: (message: unknown) => void) => (message: unknown) => void;

/** Hears what a part answers. */
export interface PartListener<Received> {
  onMessage(message: Received): void;
  /** The part is broken and answers nothing more; open another port. */
  onError(reason: string): void;
}

/** The way to a part. */
export interface PartPort<Sent> {
  /** Opens the part with the first message, which must also be able to open it again. */
  post(message: Sent): void;
  /** Forgets the part. If it is open, send `null` first, and wait for the answer. */
  end(): void;
}

/** The parts that share a thread, by name. */
export type ThreadParts<Name extends string> = Readonly<Record<Name, Part>>;

/** A message to or from a part of a worker. */
export interface WireMessage<Name extends string> {
  readonly name: Name;
  readonly message: unknown;
}

/** A thread that runs parts. */
export interface PartThread<Name extends string> {
  /** Opens the only port to a part. */
  open<Sent, Received>(name: Name, listener: PartListener<Received>): PartPort<Sent>;
}

/** A port that is in use. */
interface OpenPort {
  readonly listener: PartListener<unknown>;
  /** The message that opened the part; none has been sent yet, if absent. */
  opening?: unknown;
  /** Takes messages on the calling thread; null if the part does not run there. */
  here: ((message: unknown) => void) | null;
  /** Whether the part is open in the worker. */
  isThere: boolean;
}

/**
 * Parts that share a worker. Until {@linkcode SharedThread.leave}, they run on the calling thread:
 * a start waits for them anyway, and saves the start of a worker. Afterwards, the first message
 * starts the worker, so that a server without work does without its memory.
 */
export class SharedThread<Name extends string> implements PartThread<Name> {
  readonly #parts: ThreadParts<Name>;
  readonly #ports = new Map<Name, OpenPort>();
  /** Starts the worker; null while the parts run on the calling thread. */
  #start: (() => Worker) | null = null;
  #worker: Worker | null = null;

  constructor(parts: ThreadParts<Name>) {
    this.#parts = parts;
  }

  open<Sent, Received>(name: Name, listener: PartListener<Received>): PartPort<Sent> {
    const port: OpenPort = {
      listener: listener as PartListener<unknown>,
      here: null,
      isThere: false,
    };
    this.#ports.set(name, port);
    return {
      post: (message) => this.#post(name, port, message),
      end: () => this.#end(name, port),
    };
  }

  /**
   * Ends the parts on the calling thread. The next message to any of them starts a worker.
   *
   * @param start starts the worker, which calls `serveParts` with the same parts
   */
  leave(start: () => Worker): void {
    this.#start = start;
    for (const port of this.#ports.values()) {
      const { here } = port;
      port.here = null;
      here?.(null);
    }
  }

  #post(name: Name, port: OpenPort, message: unknown): void {
    const isFirst = !("opening" in port);
    if (isFirst) port.opening = message;
    if (this.#start === null) return this.#postHere(name, port, message);
    if (message === null && !port.isThere) {
      return queueMicrotask(() => port.listener.onMessage(null));
    }
    const worker = this.#worker ??= this.#listenTo(this.#start());
    const send = (sent: unknown) =>
      worker.postMessage({ name, message: sent } satisfies WireMessage<Name>);
    if (!port.isThere && !isFirst) send(port.opening);
    port.isThere = message !== null;
    send(message);
  }

  #postHere(name: Name, port: OpenPort, message: unknown): void {
    try {
      port.here ??= this.#openHere(name, port);
      port.here(message);
    } catch (error) {
      this.#end(name, port);
      const reason = error instanceof Error ? error.message : String(error);
      queueMicrotask(() => port.listener.onError(reason));
    }
  }

  #openHere(name: Name, port: OpenPort): (message: unknown) => void {
    const take = this.#parts[name]((answer) => {
      // Nobody asked for what the part answers when it leaves.
      if (port.here === take) queueMicrotask(() => port.listener.onMessage(answer));
    });
    return take;
  }

  #end(name: Name, port: OpenPort): void {
    if (this.#ports.get(name) !== port) return;
    this.#ports.delete(name);
    port.here = null;
    if (this.#ports.size > 0) return;
    this.#worker?.terminate();
    this.#worker = null;
  }

  #listenTo(worker: Worker): Worker {
    worker.onmessage = ({ data: { name, message } }: MessageEvent<WireMessage<Name>>) =>
      this.#ports.get(name)?.listener.onMessage(message);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message);
    };
    return worker;
  }

  #fail(reason: string): void {
    this.#worker?.terminate();
    this.#worker = null;
    const ports = [...this.#ports.values()];
    this.#ports.clear();
    for (const { listener } of ports) listener.onError(reason);
  }
}
