/** What was said: the shapes of Google's ADK for TypeScript. Fields not named here are kept as they came. */
export interface Content {
  role?: string;
  parts?: Part[];
  [field: string]: unknown;
}

/** One piece of what is said: text, a call of a tool or its answer, data, code. */
export interface Part {
  text?: string;
  /** Whether a model says it to itself. */
  thought?: boolean;
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
  inlineData?: { mimeType?: string; data?: string; [field: string]: unknown };
  fileData?: { mimeType?: string; fileUri?: string; [field: string]: unknown };
  executableCode?: { code?: string; language?: string; [field: string]: unknown };
  codeExecutionResult?: { outcome?: string; output?: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** What a model wants a tool to do. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
  [field: string]: unknown;
}

/** What a tool answered; it finds its call by `id`. */
export interface FunctionResponse {
  id?: string;
  name?: string;
  response?: unknown;
  [field: string]: unknown;
}
