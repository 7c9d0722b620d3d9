import { describe, expect, it } from 'vitest'
import { duration, list, oneOf, readConfig, switchedOn, text, wholeNumber } from './config.ts'
import { ConfigInvalidError } from './errors.ts'

const command = {
  name: 'demo',
  summary: 'Demonstrates.',
  examples: ['demo --default-cidr=10.16.0.0/16'],
  settings: {
    defaultCidr: text('10.16.0.0/16', 'Prefix of the default subnet.'),
    lsDnatModDlDst: switchedOn(true, 'Option of OVN.'),
    pprofPort: wholeNumber(10660, 'Port.'),
    retryPeriod: duration('6s', 'Time between tries.'),
    nodeLocalDnsIp: list('', 'Addresses.'),
    npEnforcement: oneOf(['standard', 'lax'], 'standard', 'How strict.'),
    podIps: list('', 'Own addresses.', { environment: 'POD_IPS', isEnvironmentOnly: true }),
    nodeName: text('', 'Own node.', { environment: 'NODE_NAME' }),
  },
}

function config(args: readonly string[], environment: Record<string, string> = {}) {
  const parsed = readConfig(command, args, environment)
  if (parsed.kind !== 'config') throw new Error('help instead of a configuration')
  return parsed.config
}

describe('readConfig', () => {
  it('takes defaults where nothing is given', () => {
    expect(config([])).toMatchObject({
      defaultCidr: '10.16.0.0/16',
      lsDnatModDlDst: true,
      pprofPort: 10660,
      retryPeriod: 6000,
      nodeLocalDnsIp: [],
      npEnforcement: 'standard',
    })
  })

  it('reads all the ways to write a flag in Go', () => {
    const args = [
      '--default-cidr=fd00::/112',
      '--ls-dnat-mod-dl-dst=false',
      '--pprof-port',
      '1',
      '-v=5',
      '--log_file=/x',
    ]
    expect(config(args)).toMatchObject({
      defaultCidr: 'fd00::/112',
      lsDnatModDlDst: false,
      pprofPort: 1,
      v: 5,
      logFile: '/x',
    })
    expect(config(['--ls-dnat-mod-dl-dst=false', '--ls-dnat-mod-dl-dst']).lsDnatModDlDst).toBe(true)
    expect(config(['--node-local-dns-ip=169.254.20.10, fd00::a']).nodeLocalDnsIp).toEqual([
      '169.254.20.10',
      'fd00::a',
    ])
  })

  it('prefers a flag to the environment and the environment to the default', () => {
    expect(config([], { NODE_NAME: 'n1', POD_IPS: 'a,b' })).toMatchObject({
      nodeName: 'n1',
      podIps: ['a', 'b'],
    })
    expect(config(['--node-name=n2'], { NODE_NAME: 'n1' }).nodeName).toBe('n2')
  })

  it.each([
    [['--pprof-port=many'], '--pprof-port', 'many'],
    [['--retry-period=6'], '--retry-period', '6'],
    [['--np-enforcement=loose'], '--np-enforcement', 'loose'],
    [['--ls-dnat-mod-dl-dst=perhaps'], '--ls-dnat-mod-dl-dst', 'perhaps'],
    [['--no-such-flag=1'], '--no-such-flag', ''],
    [['--pprof-port'], '--pprof-port', ''],
    [['positional'], 'command line', 'positional'],
  ])('refuses %j and names the flag', (args, field, value) => {
    const error = catchError(() => config(args))
    expect(error).toBeInstanceOf(ConfigInvalidError)
    expect((error as ConfigInvalidError).details).toMatchObject({ field, value })
    expect((error as ConfigInvalidError).details.cure).not.toBe('')
  })

  it('explains itself', () => {
    const parsed = readConfig(command, ['--help'], {})
    expect(parsed.kind === 'help' && parsed.text).toContain('--ls-dnat-mod-dl-dst')
  })
})

function catchError(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
