/** One server-sent event. */
export interface Sent {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly seq?: number; readonly code?: string };
}

/** Reads the server-sent events of a response. */
export async function* sentBy(response: Response): AsyncGenerator<Sent> {
  let rest = '';
  for await (const chunk of response.body ?? []) {
    rest += Buffer.from(chunk as Uint8Array).toString();
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks.filter((each) => !each.startsWith(':'))) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
      yield {
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: JSON.parse(fields.get('data') ?? 'null') as Sent['data'],
      };
    }
  }
}
