/** The content of a message, as in Google's ADK for TypeScript. Unknown fields are kept. */
export interface Content {
  role?: string;
  parts?: Part[];
  [field: string]: unknown;
}

/** A part of a message: text, a tool call or its response, data, code. */
export interface Part {
  text?: string;
  /** Whether this is a model's internal reasoning. */
  thought?: boolean;
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
  inlineData?: { mimeType?: string; data?: string; [field: string]: unknown };
  fileData?: { mimeType?: string; fileUri?: string; [field: string]: unknown };
  executableCode?: { code?: string; language?: string; [field: string]: unknown };
  codeExecutionResult?: { outcome?: string; output?: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** A tool call by a model. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
  [field: string]: unknown;
}

/** A tool's response. It belongs to the call with the same `id`. */
export interface FunctionResponse {
  id?: string;
  name?: string;
  response?: unknown;
  [field: string]: unknown;
}
