import type { MissingFeature } from '@kube-ovn/no-effect'
import { stringify } from 'yaml'

const heading = `# Values of Kube-OVN's chart without effect, generated from libs/model/no-effect: NOTES.txt tells of those that ask for
# something, and rendering fails for those that nobody may miss. \`quiet\` asks for nothing.
`

/** The list from which the chart tells what has no effect. */
export function renderChartFile(features: readonly MissingFeature[]): string {
  return (
    heading +
    stringify(
      features.flatMap(({ name, cure, chartValues = {}, isDangerous = false }) =>
        Object.entries(chartValues).map(([value, quiet]) => ({
          value,
          ...(quiet === undefined ? {} : { quiet }),
          says: `${name} is not there yet; ${cure}`,
          ...(isDangerous ? { refused: true } : {}),
        })),
      ),
      { lineWidth: 0 },
    )
  )
}
