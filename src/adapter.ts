// For adapters: what they need of sessions, events, files and access, besides the service itself. See docs/write-an-adapter.md. Adapters of
// this package have no other names, so that anybody can write one; what only they use, and is a few lines, is in adapters/shared. It
// loads no optional package, so routes with OpenAPI belong to /rest.

// Sessions: their ids, their pages, and writes that others overtake.
export { withAwaitedTurn } from './sessions/awaited-turn.js';
export { createUnlessThere } from './sessions/create-unless-there.js';
export { inCommits } from './sessions/domain/stored/batches.js';
export { assertId, checkedSessionKey, isId, sessionNameOf } from './sessions/domain/values/ids.js';
export { readPages } from './sessions/domain/values/paging.js';
export { RESERVED } from './sessions/domain/values/reserved-words.js';
export { isSessionChanged, retryOvertaken, retryUnknown } from './sessions/domain/process/retry-overtaken.js';
export { limitsOf } from './sessions/limits-of.js';

// Events: who wrote them, and what they say.
export { assertEvent } from './sessions/assert-event.js';
export { isByUser, isRewind, isSummary } from './sessions/domain/event/event-inspection.js';
export { checkedPosition } from './sessions/domain/stored/partial-event.js';
export { readTexts } from './sessions/domain/stored/partial-text.js';
export { withoutRewound } from './sessions/domain/view/without-rewound.js';
export { pairMessages } from './agents/messages/paired-calls.js';
export { readMessage, type UnpairedMessage, type UnpairedPart } from './agents/messages/said-parts.js';
export { toolErrorText } from './agents/messages/tool-response-error.js';
export { visibleEvent } from './agents/messages/visible-events.js';

// Files, in the words of other frameworks.
export { fileIn, type FileInPart, inWords } from './agents/messages/file-content.js';
export { type FileDescription, givenFile, keptFile } from './agents/messages/given-files.js';

// Values: options, requests, JSON, and what a process remembers.
export { checkOptions, type OptionKinds } from './sessions/domain/values/given-options.js';
export { fieldNames, requestCheck } from './sessions/domain/values/request-fields.js';
export { digestOf } from './sessions/domain/values/json-digest.js';
export { defined, isPlainObject, jsonCopyOf, setField } from './sessions/domain/values/json-value.js';
export { KeyedQueue } from './sessions/domain/process/keyed-queue.js';
export { Recent } from './sessions/domain/process/recently-used.js';

// Access: the rule of the app, asked as REST asks it.
export { describeWrite } from './sessions/domain/write/write-description.js';
export { HttpExchange } from './sessions/rest/http-exchange.js';
export { JsonRequestGuard } from './sessions/rest/json-request.guard.js';
export { SERVED_SESSIONS } from './sessions/sessions.tokens.js';
export { AccessChecks } from './sessions/transport/access-checks.js';
export { type OutcomeUse, withOutcome } from './sessions/transport/audit/audited-call.js';
export { reportProblem, withShownErrors } from './sessions/transport/problems.js';
export { checksFor } from './sessions/transport/shared-checks.js';
export { StreamAccess } from './sessions/transport/stream-access.js';
