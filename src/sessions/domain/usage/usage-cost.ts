import type { Amount, ModelPrice } from '../../../config/usage-settings.js';
import type { ModelUsage } from './usage.js';

/** Prices by the name of the model. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

const MICROS = 1_000_000n;

/** An amount in millionths, without rounding: amounts have at most six decimals. */
export function toMicros(amount: Amount): bigint {
  const text = typeof amount === 'number' ? amount.toFixed(6) : amount;
  const [whole = '0', decimals = ''] = text.split('.');
  return BigInt(whole) * MICROS + BigInt(decimals.padEnd(6, '0'));
}

/**
 * What these tokens cost, in millionths of the currency, rounded to the nearest one. Undefined for a model without price.
 *
 * @example computeUsageCost(usage, { 'gemini-2.5-flash': { input: '0.30', cachedInput: '0.075', output: '2.50' } });
 */
function computeUsageCost(usage: ModelUsage, prices: PriceTable): number | undefined {
  const price = Object.hasOwn(prices, usage.model) ? prices[usage.model] : undefined;
  if (!price) return undefined;
  const { input, cachedInput = input, output, thinking = output } = price;
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const parts: readonly (readonly [tokens: number, price: Amount])[] = [
    [usage.promptTokens - cached + usage.toolUseTokens, input],
    [cached, cachedInput],
    [usage.outputTokens, output],
    [usage.thinkingTokens, thinking],
  ];
  // A price is for a million tokens, so these are millionths of millionths.
  const sum = parts.reduce((before, [tokens, amount]) => before + BigInt(tokens) * toMicros(amount), 0n);
  return Number((sum + MICROS / 2n) / MICROS);
}

/** The usage of a model, and what it cost. */
export interface PricedUsage extends ModelUsage {
  /** In millionths of the currency of the price table. Missing for a model without price. */
  readonly costMicros?: number;
}

export function priced(usage: ModelUsage, prices: PriceTable): PricedUsage {
  const costMicros = computeUsageCost(usage, prices);
  return costMicros === undefined ? usage : { ...usage, costMicros };
}

/** What all models cost together, where those without price cost nothing. */
export function knownCost(models: readonly PricedUsage[]): number {
  return models.reduce((sum, { costMicros = 0 }) => sum + costMicros, 0);
}
