import { ConfigInvalidError, readConfig } from '@kube-ovn/process'
import { describe, expect, it } from 'vitest'
import { command, type ControllerConfig } from './config.ts'
import { northboundEndpoints, southboundEndpoints } from './endpoints.ts'

function config(environment: Record<string, string>): ControllerConfig {
  const parsed = readConfig(command, [], environment)
  if (parsed.kind === 'help') throw new Error(parsed.text)
  return parsed.config
}

describe('northboundEndpoints', () => {
  const hosts = { OVN_DB_IPS: '10.0.0.1,fd00::2' }
  const service = { OVN_NB_SERVICE_HOST: 'fd00::96', OVN_NB_SERVICE_PORT: '6651' }
  it.each([
    {
      name: 'are those that are named, whatever else is given',
      environment: { OVN_NB_ADDR: 'ssl:[fd00::1]:6641,tcp:h:1', ...hosts, ...service, ENABLE_SSL: 'true' },
      want: ['ssl:[fd00::1]:6641', 'tcp:h:1'],
    },
    {
      name: 'are on the hosts of the databases, both families',
      environment: { ...hosts, ...service },
      want: ['tcp:10.0.0.1:6641', 'tcp:[fd00::2]:6641'],
    },
    {
      name: 'are at another port if it is given',
      environment: { ...hosts, KUBE_OVN_NB_PORT: '7000' },
      want: ['tcp:10.0.0.1:7000', 'tcp:[fd00::2]:7000'],
    },
    {
      name: 'are the Service where no host is known',
      environment: { OVN_DB_IPS: '', ...service },
      want: ['tcp:[fd00::96]:6651'],
    },
    {
      name: 'talk TLS if that is switched on',
      environment: { ...service, ENABLE_SSL: 'true' },
      want: ['ssl:[fd00::96]:6651'],
    },
  ])('$name', ({ environment, want }) => {
    expect(northboundEndpoints(config(environment))).toEqual(want)
  })

  it('must be given somehow', () => {
    expect(() => northboundEndpoints(config({}))).toThrow(ConfigInvalidError)
  })
})

describe('southboundEndpoints', () => {
  it.each([
    {
      name: 'are those that are named',
      environment: { OVN_SB_ADDR: 'ssl:[fd00::1]:6642,tcp:h:2', OVN_DB_IPS: '10.0.0.1' },
      want: ['ssl:[fd00::1]:6642', 'tcp:h:2'],
    },
    {
      name: 'are on the hosts of the databases, at a port of their own',
      environment: { OVN_DB_IPS: '10.0.0.1,fd00::2', OVN_SB_SERVICE_HOST: '10.96.0.9' },
      want: ['tcp:10.0.0.1:6642', 'tcp:[fd00::2]:6642'],
    },
    {
      name: 'are at another port if it is given',
      environment: { OVN_DB_IPS: '10.0.0.1', KUBE_OVN_SB_PORT: '7001' },
      want: ['tcp:10.0.0.1:7001'],
    },
    {
      name: 'are the Service where no host is known',
      environment: { OVN_SB_SERVICE_HOST: '10.96.0.9', OVN_SB_SERVICE_PORT: '6652', ENABLE_SSL: 'true' },
      want: ['ssl:10.96.0.9:6652'],
    },
    { name: 'need not be known', environment: { OVN_NB_ADDR: 'tcp:10.0.0.1:6641' }, want: [] },
  ])('$name', ({ environment, want }) => {
    expect(southboundEndpoints(config(environment))).toEqual(want)
  })
})
