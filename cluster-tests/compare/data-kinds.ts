/** Kinds that only hold data: what their objects look like. */
import fc from "fast-check"
import { fields, orNull, sometimes } from "./fields.ts"
import { condition, kind } from "./kind.ts"

export const configMaps = kind("v1", "ConfigMap", "configmaps", {
  parts: {
    data: sometimes(
      orNull(
        fc.dictionary(
          fc.constantFrom("k", "l"),
          orNull(fc.constantFrom("1", "2", "")) as fc.Arbitrary<unknown>,
          {
            maxKeys: 2
          }
        )
      )
    ),
    immutable: sometimes(fc.boolean(), 12)
  },
  status: undefined,
  pointers: ["/data", "/data/k", "/data/l", "/immutable"],
  edits: [
    { op: "add", path: "/data", value: { k: "1", l: "2" } },
    { op: "add", path: "/data/m", value: "3" },
    { op: "move", from: "/data/k", path: "/data/n" }
  ],
  fieldSelectors: []
})

export const secrets = kind("v1", "Secret", "secrets", {
  parts: {
    type: sometimes(fc.constantFrom("Opaque", "example.com/own"), 4),
    data: sometimes(orNull(fc.constantFrom<object>({}, { k: "YQ==" }, { k: "YQ==", l: "Yg==" }))),
    stringData: sometimes(fc.constantFrom<object>({ k: "b" }, { m: "c" }), 4),
    immutable: sometimes(fc.boolean(), 12)
  },
  status: undefined,
  pointers: ["/data", "/data/k", "/stringData", "/type"],
  edits: [
    { op: "add", path: "/data", value: { k: "Yg==" } },
    { op: "add", path: "/stringData", value: { n: "c" } }
  ],
  fieldSelectors: ["type=Opaque"]
})

export const leases = kind("coordination.k8s.io/v1", "Lease", "leases", {
  parts: {
    spec: sometimes(
      fields({
        holderIdentity: sometimes(orNull(fc.constantFrom("a", "b", ""))),
        leaseDurationSeconds: sometimes(fc.constantFrom(15, 0, -1), 3),
        renewTime: sometimes(
          fc.constantFrom("2020-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.500000Z"),
          3
        ),
        leaseTransitions: sometimes(fc.constantFrom(0, 1, -1), 4)
      }),
      12
    )
  },
  status: undefined,
  pointers: ["/spec/holderIdentity", "/spec/leaseTransitions"],
  edits: [
    { op: "add", path: "/spec", value: { holderIdentity: "c" } },
    { op: "replace", path: "/spec/holderIdentity", value: "d" }
  ],
  fieldSelectors: []
})

export const accounts = kind("v1", "ServiceAccount", "serviceaccounts", {
  parts: {
    automountServiceAccountToken: sometimes(fc.boolean(), 3),
    imagePullSecrets: sometimes(
      fc.constantFrom<object>([], [{ name: "a" }], [{ name: "a" }, { name: "b" }]),
      3
    )
  },
  status: undefined,
  pointers: ["/imagePullSecrets/0", "/automountServiceAccountToken"],
  edits: [{ op: "add", path: "/imagePullSecrets", value: [{ name: "c" }] }],
  fieldSelectors: []
})

export const slices = kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {
  parts: {
    addressType: fc.constantFrom("IPv4", "IPv4", "IPv4", "IPv6", "X"),
    // no empty list, which is stored as null: 5 in src/embedded/model.ts
    endpoints: fc.constantFrom<object>(
      [{ addresses: ["10.1.0.1"] }],
      [
        { addresses: ["10.1.0.1"], conditions: { ready: true }, nodeName: "n" },
        { addresses: ["10.1.0.2"], zone: "z" }
      ]
    ),
    ports: sometimes(
      orNull(
        fc.constantFrom<object>(
          [{ port: 80 }],
          [
            { name: "a", port: 80, protocol: "UDP" },
            { name: "b", port: 443 }
          ]
        )
      )
    )
  },
  status: undefined,
  pointers: ["/endpoints/0", "/endpoints/-", "/ports/0/port"],
  edits: [
    { op: "add", path: "/endpoints/-", value: { addresses: ["10.1.0.9"] } },
    { op: "add", path: "/ports", value: [{ port: 81 }] }
  ],
  fieldSelectors: []
})

const addresses = fc.constantFrom<object>(
  [{ ip: "10.1.0.1" }],
  [{ ip: "10.1.0.1", nodeName: "n", targetRef: { kind: "Pod", name: "p" } }, { ip: "fd00::1" }],
  [{ ip: "10.1.0.2", hostname: "h" }],
  [{ ip: "127.0.0.1" }],
  [{ ip: "169.254.1.1", nodeName: "N" }, { ip: "0.0.0.0" }],
  [{ ip: "010.1.0.1" }, { ip: "x" }]
)

export const endpoints = kind("v1", "Endpoints", "endpoints", {
  parts: {
    subsets: sometimes(
      fc.array(
        fields({
          addresses: sometimes(addresses, 5),
          notReadyAddresses: sometimes(addresses, 2),
          ports: sometimes(
            fc.constantFrom<object>(
              [{ port: 80 }],
              [
                { name: "a", port: 80, protocol: "UDP" },
                { name: "b", port: 443, appProtocol: "x.io/h2" }
              ],
              [{ port: 80 }, { port: 0, protocol: "X" }]
            )
          )
        }),
        { minLength: 1, maxLength: 2 }
      ),
      9
    )
  },
  status: undefined,
  pointers: ["/subsets/0", "/subsets/-", "/subsets/0/addresses/0/ip", "/subsets/0/ports/0/port"],
  edits: [
    { op: "add", path: "/subsets/-", value: { addresses: [{ ip: "10.1.0.9" }] } },
    { op: "add", path: "/subsets", value: [{ notReadyAddresses: [{ ip: "10.1.0.8" }] }] },
    { op: "add", path: "/subsets/0/ports", value: [{ port: 81 }] }
  ],
  fieldSelectors: []
})

/** None that is Ready: the server would hand out addresses of it. */
export const serviceCIDRs = kind("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs", {
  cluster: true,
  parts: {
    spec: sometimes(
      fields({
        cidrs: sometimes(
          fc.constantFrom<object>(
            ["198.51.100.0/24"],
            ["198.51.100.0/24", "2001:db8::/64"],
            ["2001:db8::/64"],
            ["198.51.100.0/24", "203.0.113.0/24"],
            ["x"],
            ["198.51.100.0/33"]
          ),
          9
        )
      }),
      12
    )
  },
  status: fc.constantFrom<object>(
    { conditions: [{ ...condition, type: "Other" }] },
    { conditions: [{ ...condition, status: "False" }] },
    {}
  ),
  pointers: ["/spec/cidrs/0", "/spec/cidrs/-", "/spec/cidrs"],
  edits: [{ op: "add", path: "/spec/cidrs/-", value: "2001:db8::/64" }],
  fieldSelectors: ["metadata.namespace=<ns>"]
})
