export {
  completeTopology,
  createCluster,
  findLab,
  openCluster,
  type Cluster,
  type LabNode,
  type WantedTopology,
} from './cluster/cluster.ts'
export { importImages, importProductImages, productImage, readProbeImage } from './cluster/images.ts'
export {
  claimLabName,
  findLabs,
  removeLab,
  removeLeftovers,
  type FoundLab,
  type FoundNode,
} from './cluster/leftovers.ts'
export { machineOf, nodeNamed } from './cluster/lookup.ts'
export { ensureReaper } from './cluster/reaper.ts'
export { addNode, drainNode, rebootNode, removeNode } from './cluster/node-life.ts'
export { untilNodesReady } from './cluster/readiness.ts'
export { vlanPort } from './cluster/names.ts'
export { ensureLabImage } from './docker/image.ts'
export {
  addressesOf,
  defaultTopology,
  ofStack,
  outsideHost,
  plainNode,
  plainNodes,
  type AddressPair,
  type NodeSpec,
  type PodNetwork,
  type Stack,
  type Topology,
  vlanAddresses,
  worldAddress,
  worldName,
} from './cluster/topology.ts'
export { runKubernetesSpecs, type SpecOutcome, type SpecSelection } from './conformance.ts'
export { runPolicySuite } from './policy-conformance.ts'
export { presets, proxyModes, stacks } from './cluster/topology-file.ts'
export {
  chartNamespace,
  installChart,
  labValues,
  uninstallChart,
  upgradeChart,
  type ChartValues,
} from './chart.ts'
export { installDns } from './dns.ts'
export { installMetallb, metallbNamespace } from './metallb.ts'
export { clusterEvidence, objectsEvidence } from './evidence.ts'
export { missingForIpvs } from './machine-check.ts'
export { describeError } from './describe-error.ts'
export { ApiError, LabTimeoutError } from './errors.ts'
export { ApiClient, type ApiObject } from './kubernetes/client.ts'
export {
  applyAll,
  deleteAll,
  listExamples,
  parseManifests,
  readExample,
  withinStack,
} from './kubernetes/manifests.ts'
export { furtherNetwork } from './kubernetes/further-network.ts'
export { idlePod } from './kubernetes/idle-pod.ts'
export {
  chassisAnnotation,
  gatewayLabel,
  labelNode,
  labelNodes,
  zoneLabel,
} from './kubernetes/node-labels.ts'
export { kubectl } from './kubernetes/kubectl.ts'
export { eventually, waitForObjects } from './kubernetes/wait.ts'
export {
  addressesOfPod,
  isPodReady,
  takeDownPod,
  untilPod,
  untilPodsReady,
  untilRolledOut,
  type PodObject,
} from './kubernetes/workloads.ts'
export {
  killAt,
  insideContainer,
  insidePodContainer,
  insidePodNetwork,
  namespaceOf,
  podProcesses,
  runAt,
  startAt,
  tryAt,
  type Place,
} from './namespaces.ts'
export { auditPosition, isWrite, readAudit, type AuditedRequest } from './observe/audit-log.ts'
export { controllerLeader } from './observe/controller-leader.ts'
export { databaseLeader } from './observe/database-leader.ts'
export { tunnelEnds, vswitchPlaces } from './observe/vswitches.ts'
export { partNorthdFromLeader } from './observe/northd.ts'
export { countTransactions, logPosition } from './observe/database-log.ts'
export { findColumn, nbctl, ovnCentral, untilRowChange } from './observe/northbound.ts'
export { renderObservation, startObservation, type Observation } from './observe/observation.ts'
export { dashboards, type Dashboard, type Panel } from './observe/dashboards.ts'
export { samplesOf } from './observe/metrics.ts'
export {
  accelerated,
  acceleratedMs,
  alertRules,
  startPrometheus,
  type Prometheus,
} from './observe/prometheus.ts'
export { ProcessAccounting } from './observe/process-accounting.ts'
export { findLeaks, takeSnapshot } from './leaks/leak-check.ts'
export { renderDifferences, type Snapshot } from './leaks/snapshot.ts'
export { findUnexplainedRows } from './leaks/unexplained-rows.ts'
export type { MatrixRuleInput } from './matrix/declaration.ts'
export { renderMatrix } from './matrix/render.ts'
export { podStage } from './matrix/pod-stage.ts'
export { deployProbes, probeLabel, probeNamespace } from './matrix/probe-pods.ts'
export { runMatrix, runMatrixOn, type MatrixResult, type MatrixRow } from './matrix/run-matrix.ts'
export { askHere } from './probe/ask.ts'
export type { Outcome, Question } from './probe/question.ts'
export { pingAll, startPing, type PingLoss, type SteadyPing } from './probe/ping.ts'
export { resolveAt, type ResolvedAddresses } from './probe/name-lookup.ts'
export { measureRate, type Rate } from './probe/rate.ts'
export { askSourceAddress, fetchText } from './probe/tcp.ts'
export { routeBack } from './checks/beyond-pods.ts'
export { kubeletProbes } from './checks/kubelet-probes.ts'
export { monitor } from './checks/monitor.ts'
export { networkAttachments } from './checks/network-attachments.ts'
export { pinger } from './checks/pinger.ts'
export { beTheWorld, takeEndpoints } from './checks/pinger-breakages.ts'
export { physicalNetwork } from './checks/physical-network.ts'
export { underlay } from './checks/underlay.ts'
export { services } from './checks/services.ts'
export { seenCluster } from './checks/seen-cluster.ts'
export { vpcs } from './checks/vpcs.ts'
export { finalChecks, productChecks, runCheck, runChecks, type CheckGroup } from './checks/all.ts'
export { nodeOf, placeOf, type Check, type CheckRow } from './checks/check.ts'
export { joinVlanBy, type VlanHost } from './checks/vlan-host.ts'
export {
  describeLoss,
  lossDuring,
  outagesByFault,
  pathsBetween,
  renderLoss,
  type Flow,
  type PathLoss,
  type WatchedPath,
} from './faults/drill.ts'
export type { Blow, Fault, OtherSide } from './faults/fault.ts'
export { dropPackets } from './faults/dropped-packets.ts'
export { endProcess } from './faults/processes.ts'
export { addStrayInterface, forbidFlows } from './faults/vswitch.ts'
export {
  applyFault,
  injectFault,
  repairFault,
  standingFaults,
  strike,
  type StandingFault,
} from './faults/inject.ts'
export { bringUpFakes } from './fake/bring-up.ts'
export { fakesCheck } from './fake/check.ts'
export {
  createPlacedPods,
  createPodNamespace,
  deletePlacedPods,
  fakePods,
  type PlacedPod,
} from './fake/fake-pods.ts'
export { PodTally, type PodStage } from './fake/pod-tally.ts'
export type { FakePlan } from './fake/plan.ts'
export { removeFakes } from './fake/remove-fakes.ts'
export { countUsableFakeNodes, startFakeNodes } from './fake/start-fake-nodes.ts'
export { watchUplink, type UplinkWatch } from './uplink/watch-uplink.ts'
