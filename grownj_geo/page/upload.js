// A parcel from a file: the service reads it, and gives back its outline.
import { call, Problem } from "./api.js";
import { busy, byId, isBusy, openDialog, visible } from "./dom.js";

export function readyUpload(take) {
  const dialog = byId("upload");
  byId("upload-open").addEventListener("click", () => {
    byId("upload-problem").textContent = "";
    byId("upload-form").reset();
    openDialog(dialog);
  });
  byId("upload-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const start = byId("upload-start");
    const file = byId("upload-file").files[0];
    if (isBusy(start) || file === undefined) return;
    const form = new FormData();
    form.append("file", file, file.name);
    byId("upload-problem").textContent = "";
    busy(start, true);
    try {
      const found = await call("geometry", { form: form });
      dialog.close();
      take(found, visible(file.name));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      byId("upload-problem").textContent = error.message;
    } finally {
      busy(start, false);
    }
  });
}
