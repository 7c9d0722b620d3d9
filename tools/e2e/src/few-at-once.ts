const atOnce = 4

/** Finds something out of each, of few at once, as each takes a process or more; in their order. */
export async function fewAtOnce<T, R>(
  all: readonly T[],
  find: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const found: R[] = []
  const left = all.entries()
  const worker = async (): Promise<void> => {
    for (const [index, one] of left) found[index] = await find(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return found
}
