import { plainName, similarNames } from '../../../config/near-miss.js';
import { StatePrefix } from '../../../state/scopes.js';
import type { Content, FunctionCall, FunctionResponse, Part } from '../event/content.js';
import { InvalidInputError } from '../errors/errors.js';
import type { Event, EventActions } from '../event/event.js';
import { childPath } from '../values/json-value.js';
import { fieldNames } from '../values/request-fields.js';

/** Called for a field that is stored, but that nothing reads. If it throws, the write fails. */
export type MisspelledFieldHandler = (error: InvalidInputError) => void;

/** The known fields of one kind of object. */
class KnownFields {
  readonly #known: ReadonlySet<string>;

  /** @param elsewhere where the fields of other objects belong, seen from this one */
  constructor(
    private readonly names: readonly string[],
    readonly what: string,
    private readonly elsewhere: readonly (readonly [name: string, place: string])[] = [],
  ) {
    this.#known = new Set(names);
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** What an unknown name was most likely meant to be. */
  meant(name: string): string | undefined {
    const [similar] = similarNames(name, this.names);
    return similar ?? this.elsewhere.find(([known]) => plainName(known) === plainName(name))?.[1];
  }
}

const CALL = fieldNames<FunctionCall>({ id: true, name: true, args: true, partialArgs: true, willContinue: true });
const RESPONSE = fieldNames<FunctionResponse>({
  id: true,
  name: true,
  response: true,
  parts: true,
  scheduling: true,
  willContinue: true,
});
const PART = fieldNames<Part>({
  text: true,
  thought: true,
  thoughtSignature: true,
  functionCall: true,
  functionResponse: true,
  inlineData: true,
  fileData: true,
  executableCode: true,
  codeExecutionResult: true,
  toolCall: true,
  toolResponse: true,
  partMetadata: true,
  mediaResolution: true,
  videoMetadata: true,
});
const CONTENT = fieldNames<Content>({ role: true, parts: true });
const ACTIONS = fieldNames<EventActions>({
  stateDelta: true,
  stateRemovals: true,
  metadataDelta: true,
  artifactDelta: true,
  skipSummarization: true,
  transferToAgent: true,
  escalate: true,
  compaction: true,
  rewind: true,
  requestedAuthConfigs: true,
  requestedToolConfirmations: true,
  agentState: true,
  endOfAgent: true,
  queued: true,
  stop: true,
  withdrawn: true,
  discarded: true,
  awaitsApproval: true,
  approvalAnswer: true,
  failure: true,
  branchSummary: true,
  redacts: true,
});
const EVENT = fieldNames<Event>({
  id: true,
  seq: true,
  invocationId: true,
  author: true,
  branch: true,
  timestamp: true,
  partial: true,
  content: true,
  actions: true,
  longRunningToolIds: true,
  usageMetadata: true,
  modelVersion: true,
  modelRequest: true,
  errorCode: true,
  errorMessage: true,
  finishReason: true,
  customMetadata: true,
  redaction: true,
  turnComplete: true,
  interrupted: true,
  groundingMetadata: true,
  citationMetadata: true,
  inputTranscription: true,
  outputTranscription: true,
  liveSessionResumptionUpdate: true,
  goAway: true,
  interactionId: true,
  liveSessionId: true,
  output: true,
  route: true,
  nodeInfo: true,
  isolationScope: true,
});

const inPlace = (names: readonly string[], place: string) => names.map((name) => [name, place + name] as const);

const eventFields = new KnownFields(EVENT, 'an event', [
  ...inPlace(ACTIONS, 'actions.'),
  ...inPlace(CONTENT, 'content.'),
  ...inPlace(PART, 'content.parts[0].'),
]);
const actionFields = new KnownFields(ACTIONS, 'actions');
const contentFields = new KnownFields(CONTENT, 'a content', [...inPlace(PART, 'parts[0].'), ['content', 'parts']]);
const partFields = new KnownFields(PART, 'a part');
const callFields = new KnownFields(CALL, 'a function call');
const responseFields = new KnownFields(RESPONSE, 'a function response');

const SCOPES = Object.values(StatePrefix).map((prefix) => prefix.slice(0, -1));

/** Clients can send many unknown fields, and to compare a name with the known ones takes time. */
const MOST_COMPARED = 100;
const LONGEST_COMPARED = 600;

/** Runs with each append, so it makes no text of a path before there is a problem. */
class Search {
  readonly problems: InvalidInputError[] = [];
  #left = MOST_COMPARED;

  constructor(private readonly path: string) {}

  /** @param place below the path, with `#` for the index */
  fields(known: KnownFields, given: object, place: string, index = 0): void {
    for (const name in given) {
      if (known.has(name) || !Object.hasOwn(given, name) || !this.#mayCompare(name)) continue;
      const meant = known.meant(name);
      if (!meant) continue;
      const below = place.replace('#', String(index));
      this.#add(`is stored and not read: ${known.what} has ${meant}. Did you mean that?`, below, name);
    }
  }

  keys(state: Readonly<Record<string, unknown>>, place: string): void {
    for (const name in state) {
      const colon = name.indexOf(':');
      const scope = name.slice(0, colon);
      if (colon < 0 || SCOPES.includes(scope) || !this.#mayCompare(name)) continue;
      const [similar] = similarNames(scope, SCOPES);
      if (!similar) continue;
      this.#add(
        `belongs to this session alone. Did you mean ${JSON.stringify(similar + name.slice(colon))}?`,
        place,
        name,
      );
    }
  }

  #mayCompare({ length }: string): boolean {
    if (this.#left === 0 || length > LONGEST_COMPARED) return false;
    this.#left -= 1;
    return true;
  }

  #add(message: string, place: string, name: string): void {
    this.problems.push(new InvalidInputError(message, childPath(this.path + place, name)));
  }
}

/** The fields of a checked event that nothing reads, although they look like fields that something reads. `path`: of the event. */
export function misspelledFields(event: Event, path: string): InvalidInputError[] {
  const { actions, content } = event;
  const search = new Search(path);
  search.fields(eventFields, event, '');
  search.fields(actionFields, actions, '.actions');
  search.keys(actions.stateDelta, '.actions.stateDelta');
  if (content) {
    search.fields(contentFields, content, '.content');
    content.parts?.forEach((part, index) => {
      const { functionCall, functionResponse } = part;
      search.fields(partFields, part, '.content.parts[#]', index);
      if (functionCall) search.fields(callFields, functionCall, '.content.parts[#].functionCall', index);
      if (functionResponse)
        search.fields(responseFields, functionResponse, '.content.parts[#].functionResponse', index);
    });
  }
  return search.problems;
}

/** The keys of a state whose prefix looks like that of a scope: `User:theme` is not shared by the sessions of a user. */
export function misspelledKeys(state: Readonly<Record<string, unknown>>, path: string): InvalidInputError[] {
  const search = new Search(path);
  search.keys(state, '');
  return search.problems;
}

/** As many different warnings as a process writes, so that clients cannot fill its log. */
const MOST_WARNINGS = 100;

/** Warns once for each field, wherever in a list it is. */
export function warningOfMisspelledField(warn: (message: string) => void): MisspelledFieldHandler {
  const reported = new Set<string>();
  return ({ message, path = '' }) => {
    const place = path.replaceAll(/\[\d+\]/g, '[]');
    if (reported.has(place) || reported.size >= MOST_WARNINGS) return;
    reported.add(place);
    warn(message);
  };
}
