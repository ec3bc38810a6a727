import { signal } from '@preact/signals';
import { SavedText } from './saved-text.js';

const saved = new SavedText('theme', () => localStorage);
const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === saved.read()) ?? 'auto');
theme.subscribe((name) => document.documentElement.setAttribute('data-theme', name));

/** From the one of the system to light, to dark, and back. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto';
  saved.write(theme.value);
}
