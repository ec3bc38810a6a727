/** The part of a test that its place in the order depends on. */
interface OrderedTest {
  readonly path: string;
  readonly context: { readonly config: { readonly cache: boolean }; readonly hasteFS: { getSize(): number } };
}

declare class LongestFirst {
  static readonly SECONDS: Readonly<Record<string, number>>;
  sort(tests: OrderedTest[]): OrderedTest[];
  shard(tests: OrderedTest[], part: { readonly shardIndex: number; readonly shardCount: number }): OrderedTest[];
}

export = LongestFirst;
