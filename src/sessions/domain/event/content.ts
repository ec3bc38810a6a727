/** The content of a message, as in Google's ADK for TypeScript. */
export interface Content {
  role?: string;
  parts?: Part[];
}

/** A part of a message: text, a tool call or its response, data, code. Exactly one of them is set. */
export interface Part extends Partial<Kinds<FunctionCall>>, PartExtras {}

/** A tool call by a model. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
  /** Of Gemini: arguments that arrive in pieces. */
  partialArgs?: unknown;
  willContinue?: boolean;
}

/** A tool's response. It belongs to the call with the same `id`. */
export interface FunctionResponse {
  id?: string;
  name?: string;
  response?: unknown;
  /** Files of the response. */
  parts?: unknown;
  scheduling?: string;
  willContinue?: boolean;
}

/** What a part is. */
interface Kinds<Call> {
  text: string;
  functionCall: Call;
  functionResponse: FunctionResponse;
  inlineData: { mimeType?: string; data?: string; displayName?: string; detail?: string };
  /** `detail`: how closely models should look at an image, in the words of OpenAI. */
  fileData: { mimeType?: string; fileUri?: string; displayName?: string; detail?: string };
  executableCode: { id?: string; code?: string; language?: string };
  codeExecutionResult: { id?: string; outcome?: string; output?: string };
  /** Of Gemini: a tool that the server runs. */
  toolCall: object;
  toolResponse: object;
}

/** What a part of any kind may have. */
interface PartExtras {
  /** Whether this is a model's internal reasoning. */
  thought?: boolean;
  thoughtSignature?: string;
  partMetadata?: Record<string, unknown>;
  mediaResolution?: unknown;
  videoMetadata?: unknown;
}

/** A tool call as input. */
export interface FunctionCallInput extends FunctionCall {
  name: string;
}

type Written = Kinds<FunctionCallInput>;

type PartOf<Kind extends keyof Written> = Omit<PartExtras, 'videoMetadata'> &
  Pick<Written, Kind> & { [Other in Exclude<keyof Written, Kind>]?: undefined };

/**
 * A part as input: of exactly one kind.
 *
 * The types of Gemini and of {@link Part} have all kinds as optional fields. The last alternative lets objects of these types in, but no
 * literal of two kinds, because it has none of their fields.
 */
export type PartInput = { [Kind in keyof Written]: PartOf<Kind> }[keyof Written] | Pick<PartExtras, 'videoMetadata'>;

/**
 * The content of a message as input.
 *
 * A `role` in a literal is `user`, `model` or `system`. In the types of Gemini it is any `string`; the last alternative lets their objects in.
 */
export type ContentInput = { role?: 'user' | 'model' | 'system'; parts?: PartInput[] } | { parts?: PartInput[] };
