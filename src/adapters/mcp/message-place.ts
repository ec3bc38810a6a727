/** Where a message is: the number of a part of the log, the `seq` of its event there, and the event's id, which nobody can guess. */
export interface MessagePlace {
  readonly part: number;
  readonly seq: number;
  readonly id: string;
}

const PLACE = /^(\d{1,12})-(\d{1,12})-([0-9a-f]{24})$/;

export function placeText({ part, seq, id }: MessagePlace): string {
  return `${part}-${seq}-${id}`;
}

/** `undefined` for anything that this store did not give out. */
export function placeOf(text: string): MessagePlace | undefined {
  const [, part, seq, id] = PLACE.exec(text) ?? [];
  return part && seq && id ? { part: Number(part), seq: Number(seq), id } : undefined;
}
