/** Worlds that once told of a defect, of the product or of how it was judged. They are asked every time. */
const keptSeeds: readonly number[] = [51, 66, 82, 138, 182, 235, 365, 1225, 1551, 2052, 2874, 503_355]

/** As many worlds of their own, those of a deep run others each time; what fails names its seed. */
export function drawnSeeds(count: number): readonly number[] {
  const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
  const first = isDeep ? 1000 * Math.floor(Date.now() / 1000) : 1000
  const drawn = Array.from(
    { length: isDeep ? 10 * count : count - keptSeeds.length },
    (_, index) => first + index,
  )
  return [...keptSeeds, ...drawn]
}
