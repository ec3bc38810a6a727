import { RESERVED } from '../../sessions/domain/values/reserved-words.js';

/** The call that asks, as in ADK. */
export const REQUEST_NAME = 'adk_request_confirmation';

/** The label of sessions with pending approvals. */
export const APPROVAL_LABEL = `${RESERVED.metadata.agents}approval`;
