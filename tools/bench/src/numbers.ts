/** Whole numbers, the last one left out. */
export function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
