/** A term of a filter: a field, an operator and a string. */
export interface Term {
  readonly field: string;
  readonly operator: '=' | '>=';
  readonly value: string;
}

const TERM = /^\s*([\w.]+)\s*(>=|=)\s*"((?:[^"\\]|\\.)*)"\s*/;

/** Parses `field="value" AND …`, with `\"` and `\\` in strings. Undefined if it is no such filter. */
export function parseFilter(filter: string): Term[] | undefined {
  const terms: Term[] = [];
  let rest = filter;
  for (;;) {
    const [whole, field = '', operator, value = ''] = TERM.exec(rest) ?? [];
    if (whole === undefined) return undefined;
    terms.push({ field, operator: operator as Term['operator'], value: value.replaceAll(/\\(.)/gs, '$1') });
    rest = rest.slice(whole.length);
    if (rest === '') return terms;
    if (!rest.startsWith('AND ')) return undefined;
    rest = rest.slice('AND '.length);
  }
}
