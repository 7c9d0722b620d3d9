export { matchesLabels, type LabelSelector, type Labels } from './label-selector.ts'
export { readLabelTerm } from './label-term.ts'
export { SelectionIndex } from './selection-index.ts'
export type { Selectable, Selection, SelectionChange, Selector } from './selection.ts'
