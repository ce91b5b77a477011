/** What a person wants changed; `only` is a focus that shuts out the rest. */
export interface Change {
  kind: 'add' | 'drop' | 'focus' | 'only' | 'keep';
  what: string;
}
