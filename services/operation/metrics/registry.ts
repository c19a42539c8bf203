/** The kinds of metric whose value is a single number. */
type NumberKind = "counter" | "gauge";

/** One value of a metric that is read on demand. */
export interface Sample {
  /** The values of the metric's labels, in order; empty without labels. */
  readonly labels: readonly string[];
  readonly value: number;
}

/** A distribution that is kept elsewhere. */
export interface DistributionSample {
  /** The values of the metric's labels, in their order. */
  readonly labels: readonly string[];
  /** The number of observations up to each bound, and then the number of all observations. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

/** The name, help and labels of a metric. */
export interface MetricDescription {
  /** Without the registry's prefix; it ends with the unit, a counter's with `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** The observations of a distribution, over all values of its labels. */
export interface Totals {
  /** Rising; the last bucket has no bound. */
  readonly bounds: readonly number[];
  /** The number of observations up to each bound, and then of all. */
  readonly buckets: readonly number[];
}

/** A metric that writes itself as text. */
interface Metric {
  write(lines: string[]): void;
  /** The sum over all values of its labels. */
  total?(): number;
  /** The same for a distribution. */
  totals?(): Totals;
}

/** Most combinations of label values of one metric; further ones share one sample. */
const MAX_SERIES = 5000;

/**
 * Metrics that write themselves in the text format of Prometheus, version 0.0.4.
 *
 * It is written by hand because the one maintained library costs 30 ms of the start and 16 MB of
 * memory on Deno 2.9, and had its last release in 2024.
 */
export class Registry {
  readonly #prefix: string;
  readonly #metrics: Metric[] = [];
  readonly #byName = new Map<string, Metric>();

  /** @param prefix begins the name of every metric */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Adds a counter that is incremented by events. */
  counter(description: MetricDescription): Counter {
    return this.#add(description, new Counter(this.#headOf(description, "counter")));
  }

  /** Adds a histogram: the number of observations up to each bound. */
  histogram(description: MetricDescription, bounds: readonly number[]): Histogram {
    const head = this.#headOf(description, "histogram");
    return this.#add(description, new Histogram(head, bounds));
  }

  /** Adds a metric that is read from elsewhere on demand. */
  sampled(
    kind: NumberKind,
    description: MetricDescription,
    read: () => number | Iterable<Sample>,
  ): void {
    this.#add(description, new Sampled(this.#headOf(description, kind), read));
  }

  /** Adds a histogram that is read from elsewhere on demand. */
  sampledHistogram(
    description: MetricDescription,
    bounds: readonly number[],
    read: () => Iterable<DistributionSample>,
  ): void {
    const head = this.#headOf(description, "histogram");
    this.#add(description, new SampledHistogram(head, bounds, read));
  }

  /** Every metric as text, in the order in which they were added. */
  render(): string {
    const lines: string[] = [];
    for (const metric of this.#metrics) metric.write(lines);
    return lines.map((line) => `${line}\n`).join("");
  }

  /**
   * The number of a metric over all values of its labels; 0 if there is no such metric.
   *
   * @param name without the prefix
   */
  total(name: string): number {
    return this.#byName.get(name)?.total?.() ?? 0;
  }

  /** The observations of a distribution; null if there is none of this name. */
  totals(name: string): Totals | null {
    return this.#byName.get(name)?.totals?.() ?? null;
  }

  #add<Kind extends Metric>({ name }: MetricDescription, metric: Kind): Kind {
    this.#metrics.push(metric);
    this.#byName.set(name, metric);
    return metric;
  }

  #headOf(description: MetricDescription, kind: string): Head {
    return new Head({ ...description, name: this.#prefix + description.name }, kind);
  }
}

/** A number that only grows, for each combination of its labels' values. */
export class Counter implements Metric {
  readonly #head: Head;
  readonly #series: Series<{ value: number }>;

  constructor(head: Head) {
    this.#head = head;
    this.#series = new Series(() => ({ value: 0 }));
  }

  /** @param labels the values of the labels, in their order */
  add(amount: number, ...labels: readonly string[]): void {
    this.#series.of(labels).value += amount;
  }

  total(): number {
    let sum = 0;
    for (const [, { value }] of this.#series) sum += value;
    return sum;
  }

  write(lines: string[]): void {
    this.#head.write(lines);
    for (const [labels, { value }] of this.#series) lines.push(this.#head.line("", labels, value));
  }
}

/** The number of observations up to each bound, for each combination of its labels' values. */
export class Histogram implements Metric {
  readonly #head: Head;
  readonly #bounds: readonly number[];
  readonly #series: Series<{ counts: number[]; sum: number }>;

  /** @param bounds rising */
  constructor(head: Head, bounds: readonly number[]) {
    this.#head = head;
    this.#bounds = bounds;
    this.#series = new Series(() => ({ counts: [...bounds, Infinity].map(() => 0), sum: 0 }));
  }

  /** @param labels the values of the labels, in their order */
  observe(value: number, ...labels: readonly string[]): void {
    const series = this.#series.of(labels);
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Infinity)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  totals(): Totals {
    const sums = [...this.#bounds, Infinity].map(() => 0);
    for (const [, { counts }] of this.#series) {
      for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
    }
    let all = 0;
    return { bounds: this.#bounds, buckets: sums.map((count) => all += count) };
  }

  write(lines: string[]): void {
    this.#head.write(lines);
    for (const [labels, { counts, sum }] of this.#series) {
      let total = 0;
      const buckets = counts.map((count) => total += count);
      this.#head.writeHistogram(lines, this.#bounds, { labels, buckets, sum });
    }
  }
}

class SampledHistogram implements Metric {
  readonly #head: Head;
  readonly #bounds: readonly number[];
  readonly #read: () => Iterable<DistributionSample>;

  constructor(head: Head, bounds: readonly number[], read: () => Iterable<DistributionSample>) {
    this.#head = head;
    this.#bounds = bounds;
    this.#read = read;
  }

  write(lines: string[]): void {
    this.#head.write(lines);
    for (const sample of this.#read()) this.#head.writeHistogram(lines, this.#bounds, sample);
  }
}

class Sampled implements Metric {
  readonly #head: Head;
  readonly #read: () => number | Iterable<Sample>;

  constructor(head: Head, read: () => number | Iterable<Sample>) {
    this.#head = head;
    this.#read = read;
  }

  total(): number {
    const read = this.#read();
    if (typeof read === "number") return read;
    let sum = 0;
    for (const { value } of read) sum += value;
    return sum;
  }

  write(lines: string[]): void {
    this.#head.write(lines);
    const read = this.#read();
    const samples = typeof read === "number" ? [{ labels: [], value: read }] : read;
    for (const { labels, value } of samples) lines.push(this.#head.line("", labels, value));
  }
}

/** A value of its own for each combination of labels. */
class Series<Value> implements Iterable<[readonly string[], Value]> {
  readonly #entries: [readonly string[], Value][] = [];
  /** The values by their labels, one after the other: quicker than by a text made of them. */
  readonly #root: Branch<Value> = { value: null, branches: new Map() };
  #surplus: Value | null = null;
  readonly #create: () => Value;

  constructor(create: () => Value) {
    this.#create = create;
  }

  of(labels: readonly string[]): Value {
    let branch: Branch<Value> | undefined = this.#root;
    for (const label of labels) branch = branch?.branches.get(label);
    return branch?.value ?? this.#find(labels);
  }

  [Symbol.iterator](): Iterator<[readonly string[], Value]> {
    return this.#entries.values();
  }

  /** The value of labels that are new, or beyond the limit and then share one. */
  #find(labels: readonly string[]): Value {
    if (this.#entries.length < MAX_SERIES) return this.#branchOf(labels).value = this.#add(labels);
    return this.#surplus ??= this.#add(labels.map(() => "other"));
  }

  #branchOf(labels: readonly string[]): Branch<Value> {
    let branch = this.#root;
    for (const label of labels) {
      const next: Branch<Value> = branch.branches.get(label) ??
        { value: null, branches: new Map() };
      branch.branches.set(label, next);
      branch = next;
    }
    return branch;
  }

  #add(labels: readonly string[]): Value {
    const value = this.#create();
    this.#entries.push([labels, value]);
    return value;
  }
}

/** What follows a label. */
interface Branch<Value> {
  /** Null if more labels follow. */
  value: Value | null;
  readonly branches: Map<string, Branch<Value>>;
}

/** The lines that come before the samples of a metric, and the form of each sample's line. */
class Head {
  readonly #name: string;
  readonly #labels: readonly string[];
  readonly #lines: readonly string[];

  constructor(description: MetricDescription, kind: string) {
    const { name, help, labels = [] } = description;
    this.#name = name;
    this.#labels = labels;
    this.#lines = [`# HELP ${name} ${escape(help)}`, `# TYPE ${name} ${kind}`];
  }

  write(lines: string[]): void {
    lines.push(...this.#lines);
  }

  writeHistogram(
    lines: string[],
    bounds: readonly number[],
    { labels, buckets, sum }: DistributionSample,
  ): void {
    for (const [place, count] of buckets.entries()) {
      const bound = formatNumber(bounds[place] ?? Infinity);
      lines.push(this.line("_bucket", labels, count, ["le", bound]));
    }
    lines.push(this.line("_sum", labels, sum));
    lines.push(this.line("_count", labels, buckets.at(-1) ?? 0));
  }

  line(
    suffix: string,
    values: readonly string[],
    value: number,
    more?: readonly [string, string],
  ): string {
    const pairs = this.#labels.map((label, index) => [label, values[index] ?? ""] as const);
    if (more !== undefined) pairs.push(more);
    const labels = pairs.map(([label, text]) =>
      `${label}="${escape(text).replaceAll('"', '\\"')}"`
    );
    const set = labels.length === 0 ? "" : `{${labels.join(",")}}`;
    return `${this.#name}${suffix}${set} ${formatNumber(value)}`;
  }
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function formatNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
