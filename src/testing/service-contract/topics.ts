import { appending } from './appending.js';
import { batchRefusals } from './batch-refusals.js';
import { batches } from './batches.js';
import { creating, getting } from './creating.js';
import { deleting } from './deleting.js';
import { errors } from './errors.js';
import { events } from './events.js';
import { explaining } from './explaining.js';
import { sessionExpiry } from './expiry.js';
import { filteredLists } from './filtered-lists.js';
import { forking } from './forking.js';
import { forkViews } from './fork-views.js';
import { history } from './history.js';
import { idempotency } from './idempotency.js';
import { limits } from './limits.js';
import { lists } from './lists.js';
import { metadata } from './metadata.js';
import { modelRequests } from './model-requests.js';
import { narrowing } from './narrowing.js';
import { ownership } from './ownership.js';
import { parallel } from './parallel.js';
import { roundTrips } from './round-trips.js';
import { redacting } from './redacting.js';
import { rewinding } from './rewinding.js';
import { sharedExpiry } from './shared-expiry.js';
import { sharedState } from './shared-state.js';
import { saving } from './saving.js';
import { stateAtMoments } from './state-history.js';
import { stateChanges, stateDeltas } from './state-changes.js';
import { scopes } from './state.js';
import { versions } from './versions.js';
import { turns } from './turns.js';
import { ages } from './view-ages.js';
import { anchors } from './view-anchors.js';
import { objects } from './view-objects.js';
import { rewinds } from './view-rewinds.js';
import { summaries } from './view-summaries.js';
import { tools } from './view-tools.js';
import { watching } from './watching.js';

export const TOPICS = [
  creating,
  getting,
  deleting,
  ownership,
  appending,
  batches,
  batchRefusals,
  roundTrips,
  idempotency,
  versions,
  parallel,
  scopes,
  saving,
  turns,
  sharedState,
  metadata,
  anchors,
  tools,
  ages,
  summaries,
  objects,
  rewinds,
  rewinding,
  redacting,
  explaining,
  modelRequests,
  forking,
  forkViews,
  narrowing,
  history,
  lists,
  filteredLists,
  events,
  watching,
  stateAtMoments,
  stateChanges,
  stateDeltas,
  sessionExpiry,
  sharedExpiry,
  errors,
  limits,
];
