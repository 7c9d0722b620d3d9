import { missingFeatures, needless } from '@kube-ovn/no-effect'
import { flagsInUse, readConfig } from '@kube-ovn/process'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { command } from './config.ts'

/** What serves metrics by TLS, with settings that all programs share. */
const serving = join(import.meta.dirname, '../../../../libs/runtime/serving/src')

/** Everything but the declaration of the settings. */
const sources = [import.meta.dirname, serving]
  .flatMap((cwd) =>
    globSync('*.ts', { cwd, exclude: ['config.ts', 'settings.ts', '*.test.ts'] }).map((path) =>
      readFileSync(join(cwd, path), 'utf8'),
    ),
  )
  .join('\n')

const listed = [...missingFeatures, ...needless].flatMap(({ agentFlags = [] }) => agentFlags)

/** Of the whole configuration, that `ovn0` is given, it reads this. */
const readByOvn0 = ['node-switch']

it('reads every flag, or lists it among those without effect', () => {
  const parsed = readConfig(command, [], {})
  if (parsed.kind === 'help') throw new Error('help was not asked for')
  const unread = flagsInUse(command, parsed.config)
    .filter(({ key }) => !new RegExp(`\\b${key}\\b`).test(sources))
    .map(({ name }) => name)
  expect([...new Set(listed)].sort()).toEqual(unread.filter((name) => !readByOvn0.includes(name)).sort())
})

it('says at its start which of its flags have no effect', () => {
  const main = join(import.meta.dirname, 'main.ts')
  // It ends by itself, for it does not find the API server.
  const args = [main, '--set-vxlan-tx-off', '--pprof-port=0', '--kubeconfig=/no/such/file']
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const lines = stderr.split('\n').filter((line) => line.includes('flags without effect'))
  expect(lines).toEqual([
    expect.stringContaining('--set-vxlan-tx-off=true has no effect: the switch for the offload'),
  ])
})
