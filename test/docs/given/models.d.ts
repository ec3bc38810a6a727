/** Packages of models that the docs name and that are not installed here. */
declare module '@ai-sdk/openai' {
  export function openai(model: string): import('@ai-sdk/provider').LanguageModelV3;
}

declare module '@ai-sdk/anthropic' {
  export function anthropic(model: string): import('@ai-sdk/provider').LanguageModelV3;
}
