// A Koop feature server for the tests: serves the GeoJSON files of one folder on loopback.
//
//   node server.mjs FOLDER        (FOLDER relative to the working directory, as the provider wants it)
//
// Prints "PORT n" when it listens on a free port that the system chose.
import { createRequire } from "node:module";
import http from "node:http";

const require = createRequire(import.meta.url);
const Koop = require("@koopjs/koop-core");
const provider = require("@koopjs/provider-file-geojson");

const koop = new Koop({ logLevel: "error" });
koop.register(provider, { dataDir: process.argv[2] });
const server = http.createServer(koop.server).listen(0, "127.0.0.1", () => {
  console.log(`PORT ${server.address().port}`);
});
