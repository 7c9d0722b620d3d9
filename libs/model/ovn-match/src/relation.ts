/** How a field is compared with constants, and the same with both sides exchanged. */
export const turned = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

export type Relation = keyof typeof turned

/** Whether a symbol compares. */
export function isRelation(symbol: string): symbol is Relation {
  return Object.hasOwn(turned, symbol)
}
