import { missingFeatures, needless } from '@kube-ovn/no-effect'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { expect, it } from 'vitest'
import { upstreamChartValues } from './upstream.ts'

const chart = join(import.meta.dirname, '../../../../helm/kube-ovn')
const templates = textOf('templates/**/*.{yaml,tpl,txt}')
/** `- --flag={{ .Values.a.b }}`, or of a part of the values that a template has a name for. */
const flagPattern = /- --([a-z0-9-]+)=\{\{ (?:\.Values|\$(networking))\.([A-Za-z0-9_.]+) \}\}/g
const ours = leaves(parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as object)
const listed = [
  ...missingFeatures.flatMap(({ chartValues = {} }) => Object.keys(chartValues)),
  ...needless.flatMap(({ chartValues = [] }) => chartValues),
]

function textOf(pattern: string): string {
  return globSync(pattern, { cwd: chart })
    .map((path) => readFileSync(join(chart, path), 'utf8'))
    .join('\n')
}

/** Paths of everything in nested maps that is no map itself, or an empty one. */
function leaves(value: object, path = ''): readonly string[] {
  return Object.entries(value).flatMap(([key, one]: [string, unknown]) => {
    const full = path === '' ? key : `${path}.${key}`
    const isMap =
      typeof one === 'object' && one !== null && !Array.isArray(one) && Object.keys(one).length > 0
    return isMap ? leaves(one, full) : [full]
  })
}

function covers(one: string, other: string): boolean {
  return one === other || other.startsWith(`${one}.`)
}

it.each(upstreamChartValues)("upstream's value %s is one of ours, or listed as without effect", (value) => {
  const isOurs = ours.some((path) => covers(value, path) || covers(path, value))
  const isListed = listed.some((path) => covers(value, path) || covers(path, value))
  expect(isOurs || isListed).toBe(true)
})

/** Whether a template has the value, or takes a map above it whole and names what is in that. */
function isRendered(path: string): boolean {
  const names = path.split('.')
  return names.some((_name, index) => {
    const above = names.slice(0, index + 1).join('\\.')
    const next = names[index + 1]
    const isTaken = new RegExp(`\\.Values\\.${above}(?![.\\w])`).test(templates)
    return (
      isTaken && (next === undefined || !/^\w+$/.test(next) || new RegExp(`\\.${next}\\b`).test(templates))
    )
  })
}

it.each(ours)('the value %s is rendered, or listed as without effect', (path) => {
  expect(isRendered(path) || listed.includes(path)).toBe(true)
})

/** How often templates take a value, by its path or by the name that they have for a part of the values. */
function usesOf(value: string): number {
  const path = value.replaceAll('.', '\\.')
  return [...templates.matchAll(new RegExp(`(?:\\.Values\\.|\\$)${path}\\b`, 'g'))].length
}

const programs = [
  { program: 'controller', flagsOf: 'controllerFlags' },
  { program: 'agent', flagsOf: 'agentFlags' },
] as const

interface FlagOfValue {
  readonly flag: string
  readonly value: string
  readonly isWithoutEffect: boolean
}

function flagsOfValues({ program, flagsOf }: (typeof programs)[number]): readonly FlagOfValue[] {
  const withoutEffect = [...missingFeatures, ...needless].flatMap(({ [flagsOf]: flags = [] }) => flags)
  return [...textOf(`templates/${program}/*.yaml`).matchAll(flagPattern)].map(
    ([, flag = '', root, rest = '']) => ({
      flag,
      value: root === undefined ? rest : `${root}.${rest}`,
      isWithoutEffect: withoutEffect.includes(flag),
    }),
  )
}

it.each(listed)('%s, which is listed, becomes at most a flag without effect', (value) => {
  const flags = programs.flatMap(flagsOfValues).filter((one) => one.value === value && one.isWithoutEffect)
  expect(usesOf(value)).toBe(flags.length)
})

it.each(programs.flatMap(flagsOfValues))(
  '$value is listed if nothing takes it but flags without effect, as $flag',
  ({ value, isWithoutEffect }) => {
    const isUnheard = isWithoutEffect && usesOf(value) === 1
    expect(listed.includes(value)).toBe(isUnheard)
  },
)
