import type { FlagsOfPrograms, MissingFeature, Needless } from '@kube-ovn/no-effect'

/** The part of the page of differences that tells what has no effect, in Markdown. */
export function renderNoEffect(features: readonly MissingFeature[], needless: readonly Needless[]): string {
  return [
    '| Not there yet | Until then | Accepted without effect |',
    '| --- | --- | --- |',
    ...features.map((feature) => row(feature.name, feature.cure, listed(feature))),
    '',
    'These have no effect either, and nothing is lost by it:',
    '',
    '| What | Why |',
    '| --- | --- |',
    ...needless.map((one) => row(listedNeedless(one), one.why)),
  ].join('\n')
}

function listed(feature: MissingFeature): string {
  const { annotations = {}, chartValues = {} } = feature
  return together([
    part('Subnet', feature.subnet),
    part('annotations of Pods', [...(feature.nic ?? []), ...(annotations.Pod ?? [])]),
    ...(['Node', 'Subnet', 'Vpc'] as const).map((kind) => part(`annotations of ${kind}s`, annotations[kind])),
    part('labels of Nodes', feature.nodeLabels),
    ...flagParts(feature),
    part('chart', Object.keys(chartValues)),
  ])
}

function listedNeedless({ fields = {}, annotations = {}, ...rest }: Needless): string {
  return together([
    ...Object.entries(fields).map(([kind, names]) => part(kind, names)),
    ...Object.entries(annotations).map(([kind, names]) => part(`annotations of ${kind}s`, names)),
    ...flagParts(rest),
    part('chart', rest.chartValues),
  ])
}

function flagParts({ controllerFlags, agentFlags, speakerFlags }: FlagsOfPrograms): readonly string[] {
  const dashed = (names: readonly string[] = []): readonly string[] => names.map((name) => `--${name}`)
  return [
    part('controller', dashed(controllerFlags)),
    part('agent', dashed(agentFlags)),
    part('speaker', dashed(speakerFlags)),
  ]
}

function part(of: string, names: readonly string[] = []): string {
  return names.length === 0 ? '' : `${of}: ${names.map((name) => `\`${name}\``).join(', ')}`
}

function together(parts: readonly string[]): string {
  return parts.filter((text) => text !== '').join('; ')
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map(capital).join(' | ')} |`
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
