import { readConfig } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { command } from './config.ts'

it('reads what the chart sets', () => {
  expect(
    readConfig(command, [], { POD_NAMESPACE: 'network', NODE_CLEANUP: 'clean', TIMEOUT_SECONDS: '60' }),
  ).toMatchObject({ config: { podNamespace: 'network', nodeCleanup: 'clean', timeoutSeconds: 60 } })
})

it('refuses a time to wait that is no number, and names the variable', () => {
  expect(() => readConfig(command, [], { TIMEOUT_SECONDS: 'soon' })).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ field: 'TIMEOUT_SECONDS', value: 'soon' }),
    }),
  )
})
