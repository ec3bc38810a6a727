/**
 * Why an event is in the view:
 * - `kept`: the limits leave it in.
 * - `summary`: it is the summary of what came before.
 * - `anchor`: the view has no other event to begin with.
 * - `calledFor`: a tool response needs it, since it is the call, or lies between call and response.
 */
const IN_VIEW = ['kept', 'summary', 'anchor', 'calledFor'] as const;

/**
 * Why an event is not in the view:
 * - `summarised`: a summary replaces it, or a later summary replaces this one. Also for what was rewound before the summary was made.
 * - `rewound`: a rewind took it back, or it is the rewind.
 * - `tooOld`: it is older than `history.eventTtlSeconds`.
 * - `overLimit`: there are newer events enough for `history.maxEvents` or `history.numRecentEvents`.
 * - `overBytes`: newer events fill `limits.maxViewBytes`.
 * - `beforeAnchor`: the view begins later, at a message of the user or a summary.
 * - `unpaired`: it is the response to a call that is too far back.
 * - `notAsked`: the `config` of the request leaves it out.
 */
const OUT_OF_VIEW = [
  'summarised',
  'rewound',
  'tooOld',
  'overLimit',
  'overBytes',
  'beforeAnchor',
  'unpaired',
  'notAsked',
] as const;

export const VIEW_REASONS = [...IN_VIEW, ...OUT_OF_VIEW] as const;

/** Why an event is in a view, or not. */
export type ViewReason = (typeof VIEW_REASONS)[number];

const REASONS_IN_VIEW: ReadonlySet<ViewReason> = new Set(IN_VIEW);

export function isInView(reason: ViewReason): boolean {
  return REASONS_IN_VIEW.has(reason);
}
