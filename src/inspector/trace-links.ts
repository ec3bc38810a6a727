/** What a template of addresses of traces may name. Spans have them as `gen_ai.conversation.id` and `agent_sessions.invocation.id`. */
const PLACEHOLDERS = ['appName', 'sessionId', 'invocationId'] as const;

/** What a link is made of. */
export type TracePlace = Readonly<Record<(typeof PLACEHOLDERS)[number], string>>;

const NAMED = /\{(?<name>[^{}]*)\}/g;

/** Why a template makes no links, or nothing if it does. */
export function findTraceUrlProblem(template: unknown): string | undefined {
  if (typeof template !== 'string' || !isWebAddress(template)) {
    return `must be an address such as "https://traces.example.com/search?conversation={sessionId}", not ${JSON.stringify(template)}`;
  }
  const names = [...template.matchAll(NAMED)].map(([, name = '']) => name);
  const wrong = names.find((name) => !PLACEHOLDERS.some((known) => known === name));
  const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
  if (wrong !== undefined) return `has no {${wrong}}: it has ${known}`;
  const isOfSession = names.includes('sessionId') || names.includes('invocationId');
  return isOfSession
    ? undefined
    : 'must have {sessionId} or {invocationId}, so that it leads to the traces of a session';
}

/** Whether each turn has a link of its own, and not only the session. */
export function isOfTurn(template: string): boolean {
  return template.includes('{invocationId}');
}

/** The address of the traces of a session, or of one of its turns. */
export function toTraceUrl(template: string, place: TracePlace): string {
  return template.replaceAll(NAMED, (_whole, name: keyof TracePlace) => encodeURIComponent(place[name]));
}

function isWebAddress(text: string): boolean {
  // A placeholder in the name of the host would lead to hosts that the session names.
  const [origin = ''] = /^https?:\/\/[^/?#]*/i.exec(text) ?? [];
  return origin !== '' && !/[{}]/.test(origin) && URL.canParse(origin);
}
